import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonObject, type JsonValue } from "../../core/format/json.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";

/** Forms of stored originals, named like their keys in `details`. */
const FORMS = [
  "anthropic",
  "bedrock",
  "openaiChat",
  "openaiResponses",
  "gemini",
  "langchain",
  "modelMessage",
  "uiMessage",
] as const;

/** Form of a provider or SDK. Also the key in `details` of an original in this form. */
export type FormName = (typeof FORMS)[number];

/** Key in `details` for changes to an AI SDK message since it was first stored. */
export const STATE_DETAIL = "uiState";

/** Fields of originals that contain the parts of messages, results, and AI SDK outputs. */
const PART_LISTS = ["content", "output", "value"] as const;

/** Fields of the AI SDK's state that are converted to block ids and signatures or are only for display, by provider. */
const READ_STATE: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["signature", "redactedData"],
  openai: ["itemId", "phase", "reasoningEncryptedContent", "namespace", "annotations"],
  google: ["thoughtSignature"],
};

/** Fields of LangChain messages that blocks represent or that are not sent to a model. */
const LANGCHAIN_FACTS: readonly string[] = [
  ...["id", "tool_calls", "tool_call_chunks", "tool_call_id", "status", "artifact"],
  ...["usage_metadata", "response_metadata"],
];

/** Types of LangChain blocks that are converted to message blocks. */
const LANGCHAIN_BLOCKS: ReadonlySet<unknown> = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "reasoning",
  "tool_use",
]);

/** Fields of the AI SDK's state that request caching. They apply to only one request. */
export const CACHE_FIELDS: readonly string[] = ["cacheControl", "cache_control", "cachePoint"];

/** Creates `details` that contain an original. */
export function keepRaw(form: FormName, raw: object): JsonObject {
  return { [form]: copyAsJson(raw) };
}

/** Returns the original that `keepRaw` stored in a message's `details`; undefined if there is no original in that form. */
export function findRaw(message: object, form: FormName): unknown {
  return toRecord(toRecord(message)["details"])[form];
}

/** Returns the forms of the originals stored with a message. */
export function listKeptForms(message: object): FormName[] {
  return FORMS.filter((form) => findRaw(message, form) !== undefined);
}

/**
 * Returns whether a stored original contains data for a model. UI messages and LangChain messages are also stored for their ids
 * and metadata.
 */
export function isOriginalForModel(form: FormName, raw: unknown): boolean {
  if (form === "langchain") return isLangChainForModel(toRecord(raw));
  return form !== "uiMessage" || isForModel(raw);
}

/**
 * Returns whether a stored UI message contains data for a model that the message lacks, such as a file, a provider's
 * tool, or provider state that blocks cannot represent.
 */
export function isForModel(uiMessage: unknown): boolean {
  const { parts } = toRecord(uiMessage);
  return Array.isArray(parts) && parts.map(toRecord).some(isPartForModel);
}

function isLangChainForModel({ type, data }: { readonly [name: string]: unknown }): boolean {
  const { content, name, ...rest } = withoutFields(toRecord(data), LANGCHAIN_FACTS);
  const isNamed = type === "human" && name !== undefined;
  return isNamed || Object.keys(rest).length > 0 || !toArray(content).map(toRecord).every(isReadBlock);
}

function isReadBlock({ type }: { readonly [name: string]: unknown }): boolean {
  return LANGCHAIN_BLOCKS.has(type);
}

function isPartForModel(part: { readonly [name: string]: unknown }): boolean {
  const { type, input, rawInput, providerExecuted, providerMetadata } = part;
  if (providerExecuted === true || type === "file" || type === "reasoning-file" || type === "custom")
    return true;
  const callState = getCallState(part);
  const isOfModel = type === "text" || type === "reasoning" || callState !== undefined;
  const isBroken = typeof (input ?? rawInput) === "string" && !hasItem(callState);
  return isBroken || (isOfModel && hasUnreadState(callState ?? providerMetadata));
}

/**
 * Returns the provider's state for a call in a UI message. If a call failed immediately, the AI SDK stores its state
 * with the result.
 */
export function getCallState(part: unknown): unknown {
  const { state, callProviderMetadata, resultProviderMetadata } = toRecord(part);
  return callProviderMetadata ?? (state === "output-error" ? resultProviderMetadata : undefined);
}

/** Returns whether a call is an OpenAI item. If the input of such a call is a string, the tool accepts text. */
function hasItem(metadata: unknown): boolean {
  return toRecord(toRecord(metadata)["openai"])["itemId"] !== undefined;
}

/** Returns whether state contains data that blocks cannot represent, such as all Bedrock state. */
function hasUnreadState(metadata: unknown): boolean {
  return Object.entries(toRecord(metadata)).some(([provider, state]) => {
    const { caller, ...unread } = withoutFields(toRecord(state), [
      ...CACHE_FIELDS,
      ...(Object.hasOwn(READ_STATE, provider) ? (READ_STATE[provider] ?? []) : []),
    ]);
    // For every call, Anthropic reports whether the model made it directly.
    const isUsual = provider === "anthropic" && isSameJson(caller, { type: "direct" });
    return Object.keys(unread).length > 0 || (caller !== undefined && !isUsual);
  });
}

/**
 * Copies a stored original without blank text, which providers reject, in the parts of a message, a result, or an array.
 *
 * Items in OpenAI's responses are not parts and retain their text. A blank text block that must carry a signature is retained.
 *
 * @param isBlank - Returns whether the provider considers a string to be empty.
 */
export function withoutBlankTexts(raw: unknown, isBlank: (text: string) => boolean): unknown {
  if (Array.isArray(raw)) return raw.filter((part) => !isBlankPart(part, isBlank));
  if (!isJsonRecord(raw)) return raw;
  // `value` may also be a tool's own JSON.
  const lists = PART_LISTS.filter((name) => name in raw && (name !== "value" || raw["type"] === "content"));
  const stripped = lists.map((name) => [name, withoutBlankTexts(raw[name], isBlank)] as const);
  return { ...raw, ...Object.fromEntries(stripped) };
}

function isBlankPart(part: unknown, isBlank: (text: string) => boolean): boolean {
  const { type, text, providerOptions, ...others } = toRecord(part);
  if (typeof text !== "string" || !isBlank(text)) return false;
  if (toRecord(toRecord(providerOptions)["google"])["thoughtSignature"] !== undefined) return false;
  return type === undefined ? Object.keys(others).length === 0 : type === "text" || type === "input_text";
}

/** Returns whether the last part of an array has one of these types. */
export function endsWithType(list: unknown, ...types: readonly string[]): boolean {
  const { type } = toRecord(Array.isArray(list) ? list.at(-1) : undefined);
  return types.some((one) => one === type);
}

/** Copies a value through JSON, which drops values that it cannot represent. Throws for cycles and BigInts. */
export function copyAsJson(value: object): JsonValue {
  const copy: JsonValue = JSON.parse(encodeRecord(value));
  return copy;
}

/** Returns whether two values are equal as JSON, regardless of key order. */
export function isSameJson(a: unknown, b: unknown): boolean {
  // Uses an explicit stack because the data may be nested deeper than the call stack allows.
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
        pairs.push([getOwnValue(left, key), getOwnValue(right, key)]);
      }
    } else {
      return false;
    }
  }
  return true;
}

function getOwnValue(record: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(record, key)?.value;
}

/** Copies a record without the given fields and any null or undefined fields. */
export function withoutFields(record: object, names: readonly string[] = []): { [key: string]: unknown } {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null && value !== undefined && !names.includes(name),
    ),
  );
}
