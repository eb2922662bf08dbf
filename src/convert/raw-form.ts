import { fieldsOf } from "../context/entry-fields.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { isJsonRecord, type JsonObject, type JsonValue } from "../schema/json.ts";

/** The forms that a message can be kept in, by their key in `details`. */
const FORMS = ["anthropic", "openaiChat", "openaiResponses", "gemini", "modelMessage", "uiMessage"] as const;

/** Key in `details` under which a message is kept as its provider or SDK says it. */
export type FormName = (typeof FORMS)[number];

/** Makes the `details` that keep a message as its provider or SDK says it. */
export function keepRaw(form: FormName, raw: object): JsonObject {
  return { [form]: jsonCopy(raw) };
}

/** Returns what `keepRaw` put into a message's `details`; undefined if there is nothing of that form. */
export function rawOf(message: object, form: FormName): unknown {
  return fieldsOf(fieldsOf(message)["details"])[form];
}

/** Lists the forms in which something was kept of a message. */
export function keptForms(message: object): FormName[] {
  return FORMS.filter((form) => rawOf(message, form) !== undefined);
}

/** Tells whether a UI message that was kept holds something for a model that its message does not: a file, a provider's tool. */
export function isForModel(uiMessage: unknown): boolean {
  const { parts } = fieldsOf(uiMessage);
  return Array.isArray(parts) && parts.map(fieldsOf).some(isPartForModel);
}

function isPartForModel({ type, providerExecuted }: { readonly [name: string]: unknown }): boolean {
  return providerExecuted === true || type === "file" || type === "reasoning-file" || type === "custom";
}

/** Tells whether the last part of a list is of one of these types. */
export function endsIn(list: unknown, ...types: readonly string[]): boolean {
  const { type } = fieldsOf(Array.isArray(list) ? list.at(-1) : undefined);
  return types.some((one) => one === type);
}

/**
 * Copies what JSON can hold of a value; what it cannot hold is left out, as `JSON.stringify` does.
 *
 * @throws {TypeError} On cycles and BigInts.
 */
function jsonCopy(value: object): JsonValue {
  const copy: JsonValue = JSON.parse(encodeRecord(value));
  return copy;
}

/**
 * Tells whether JSON would hold the same of two values, in whatever order their keys are.
 *
 * @remarks Cost: O(size of the smaller), at any depth.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  // An explicit stack, since the data may be deeper than the call stack.
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair;
    if (Object.is(left, right)) continue;
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return false;
      left.forEach((value, index) => {
        pairs.push([value, right[index]]);
      });
    } else if (isJsonRecord(left) && isJsonRecord(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
        pairs.push([ownValue(left, key), ownValue(right, key)]);
      }
    } else {
      return false;
    }
  }
  return true;
}

function ownValue(record: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(record, key)?.value;
}

/** Copies a record without some of its fields and without those that are null or undefined. */
export function withoutFields(record: object, names: readonly string[] = []): { [key: string]: unknown } {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null && value !== undefined && !names.includes(name),
    ),
  );
}
