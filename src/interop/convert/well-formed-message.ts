import { toRecord } from "../../core/context/entry-fields.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import { findReasoningField } from "./openai-chat/openai-chat-content.ts";
import { parseTextItem } from "./openai-responses/openai-responses-content.ts";
import { listKeptForms } from "./raw-form.ts";

/** Fields that may contain JSON strings decoded by a request or a server. */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  "arguments",
  "textSignature",
  "thinkingSignature",
  "thoughtSignature",
]);

/** Matches the JSON escape of a surrogate, whether alone or in a pair. */
const ESCAPED_HALF = /\\u[dD][89a-fA-F]/;

/**
 * Replaces lone surrogates, which providers reject, in all parts of a message that a request may contain: text, names,
 * arguments (including JSON strings), and stored originals. Leaves call ids to `ToolIds`, which keeps them distinct.
 *
 * Drops the signature of a text block that changes.
 *
 * @returns The same message if it contains no lone surrogates.
 * @remarks Cost: O(size of the message), at any depth.
 */
export function toWellFormedMessage<M extends AgentMessage>(message: M): M {
  if (!isJsonRecord(message)) return message;
  const changed = findChangedFields(message, (name, value) => {
    if (name === "toolCallId") return value;
    if (name === "details") return toWellFormedDetails(message, value);
    return name === "content" && Array.isArray(value) ? toWellFormedBlocks(value) : toWellFormedValue(value);
  });
  return changed === undefined ? message : Object.assign({}, message, changed);
}

/** Returns the fields that a function changes; undefined if no fields change. */
function findChangedFields(
  record: object,
  change: (name: string, value: unknown) => unknown,
): { readonly [name: string]: unknown } | undefined {
  const changed = Object.entries(record).flatMap(([name, value]) => {
    const other = change(name, value);
    return other === value ? [] : [[name, other] as const];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Converts only the stored originals in `details`. All other fields belong to the host and are not sent. */
function toWellFormedDetails(message: object, details: unknown): unknown {
  const forms = new Set<string>(listKeptForms(message));
  const changed = findChangedFields(toRecord(details), (name, value) =>
    forms.has(name) ? toWellFormedValue(value) : value,
  );
  return changed === undefined ? details : { ...toRecord(details), ...changed };
}

function toWellFormedBlocks(blocks: readonly unknown[]): unknown {
  const changed = blocks.map(toWellFormedBlock);
  return changed.every((block, at) => block === blocks[at]) ? blocks : changed;
}

function toWellFormedBlock(block: unknown): unknown {
  if (!isJsonRecord(block)) return toWellFormedValue(block);
  const isCall = block["type"] === "toolCall";
  const changed = findChangedFields(block, (name, value) =>
    isCall && name === "id" ? value : toWellFormedField(name, value),
  );
  return changed === undefined ? block : withoutSignature({ ...block, ...changed });
}

/** Removes the signature of a changed text block, unless the signature is only the name of a field or the id of an item. */
function withoutSignature(block: { readonly [name: string]: unknown }): object {
  const { thinkingSignature: thinking, textSignature: text, thoughtSignature: _, ...rest } = block;
  return {
    ...rest,
    ...(typeof thinking === "string" &&
      findReasoningField(thinking) !== undefined && { thinkingSignature: thinking }),
    ...(typeof text === "string" && parseTextItem(text) !== undefined && { textSignature: text }),
  };
}

function toWellFormedField(name: string, value: unknown): unknown {
  return typeof value === "string" ? toWellFormedNamed(name, value) : toWellFormedValue(value);
}

function toWellFormedNamed(name: string, text: string): string {
  const whole = toWellFormedText(text);
  if (!JSON_FIELDS.has(name) || !ESCAPED_HALF.test(whole)) return whole;
  const { value } = parseJson(whole) ?? {};
  const decoded = toWellFormedValue(value);
  return decoded === value ? whole : JSON.stringify(decoded);
}

/** Replaces lone surrogates in a value and in property names. Returns the same value if it contains no lone surrogates. */
export function toWellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return toWellFormedText(value);
  return isWellFormed(value) ? value : copyWellFormed(value);
}

function isWellFormed(value: unknown): boolean {
  const seen = new Set<object>();
  // Uses an explicit stack because the data may be nested deeper than the call stack allows.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (!isContainer(one) || seen.has(one)) continue;
    seen.add(one);
    for (const [name, inner] of Object.entries(one)) {
      if (toWellFormedText(name) !== name) return false;
      if (typeof inner !== "string") open.push(inner);
      else if (toWellFormedNamed(name, inner) !== inner) return false;
    }
  }
  return true;
}

function copyWellFormed(value: unknown): unknown {
  const copies = new Map<object, object>();
  const open: object[] = [];
  const copyValue = (one: unknown): unknown => {
    if (!isContainer(one)) return one;
    const known = copies.get(one);
    if (known !== undefined) return known;
    const copy = Array.isArray(one) ? [] : {};
    copies.set(one, copy);
    open.push(one);
    return copy;
  };
  const root = copyValue(value);
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const copy = copies.get(one) ?? {};
    for (const [name, inner] of Object.entries(one)) {
      const made = typeof inner === "string" ? toWellFormedNamed(name, inner) : copyValue(inner);
      const field = { value: made, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(copy, toWellFormedText(name), field);
    }
  }
  return root;
}

/** Returns whether a value is an array or a plain record, rather than an object with internal state. */
function isContainer(value: unknown): value is object {
  return Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]";
}
