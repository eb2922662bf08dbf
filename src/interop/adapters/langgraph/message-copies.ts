import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";

/** Prototypes of messages whose serialized form depends only on their own properties. */
const PROTOTYPES: ReadonlySet<unknown> = new Set(
  [
    ...[AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage],
    ...[AIMessageChunk, ChatMessageChunk, HumanMessageChunk, SystemMessageChunk, ToolMessageChunk],
  ].map(({ prototype }) => prototype),
);

/** Marker returned when a copied value is not plain data. */
const NOT_PLAIN = Symbol("not plain");

/** Maximum depth to which messages are copied and compared. */
const MAX_DEPTH = 1_000;

/** Returns whether a value is an instance of one of LangChain's own message classes, rather than of a subclass. */
export function isMessageInstance(value: unknown): value is JsonRecord {
  return isJsonRecord(value) && PROTOTYPES.has(Object.getPrototypeOf(value));
}

/**
 * Returns a deep copy of a message; undefined if it contains anything other than plain data, such as bytes or a class instance.
 */
export function copyMessage(message: JsonRecord): JsonRecord | undefined {
  const copy: JsonRecord = Object.create(Object.getPrototypeOf(message));
  // A message often shares objects between its fields and its constructor arguments, and so does the copy.
  const isPlain = copyFields(message, Object.getOwnPropertyNames(message), copy, new Map(), 0);
  for (const key of Object.getOwnPropertySymbols(message)) {
    const value: unknown = Reflect.get(message, key);
    if (typeof value === "object" || typeof value === "function") return undefined;
    Reflect.set(copy, key, value);
  }
  return isPlain ? copy : undefined;
}

type Copies = Map<object, unknown>;

function copyFields(
  from: JsonRecord,
  keys: readonly string[],
  to: JsonRecord,
  copies: Copies,
  depth: number,
): boolean {
  for (const key of keys) {
    const value = copyValue(from[key], copies, depth + 1);
    if (value === NOT_PLAIN || key === "__proto__") return false;
    to[key] = value;
  }
  return true;
}

function copyValue(value: unknown, copies: Copies, depth: number): unknown {
  if (value === null || value === undefined || typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "object" || depth > MAX_DEPTH) return NOT_PLAIN;
  const known = copies.get(value);
  if (known !== undefined) return known;
  // An object that contains itself has no plain copy.
  copies.set(value, NOT_PLAIN);
  const copy = copyObject(value, copies, depth);
  copies.set(value, copy);
  return copy;
}

function copyObject(value: object, copies: Copies, depth: number): unknown {
  if ("toJSON" in value) return NOT_PLAIN;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype) return NOT_PLAIN;
    const copy = value.map((one) => copyValue(one, copies, depth + 1));
    return copy.includes(NOT_PLAIN) ? NOT_PLAIN : copy;
  }
  if (!isJsonRecord(value) || (prototype !== Object.prototype && prototype !== null)) return NOT_PLAIN;
  const copy: JsonRecord = prototype === null ? Object.create(null) : {};
  return copyFields(value, Object.keys(value), copy, copies, depth) ? copy : NOT_PLAIN;
}

/** Returns whether a message would be serialized in the same way as its copy from `copyMessage`. */
export function isMessageUnchanged(message: JsonRecord, copy: JsonRecord): boolean {
  if (Object.getPrototypeOf(message) !== Object.getPrototypeOf(copy)) return false;
  const keys = Object.keys(copy);
  // Serialization also reads properties that are not enumerable.
  const found = Object.getOwnPropertyNames(message);
  if (keys.length !== found.length) return false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? "";
    if (key !== found[at] && !Object.hasOwn(message, key)) return false;
    if (!isSameValue(message[key], copy[key], message, copy)) return false;
  }
  return true;
}

/**
 * Returns whether a value equals its copy.
 *
 * @param owner - Object whose own fields are compared by the caller.
 */
function isSameValue(value: unknown, copy: unknown, owner?: JsonRecord, ownerCopy?: JsonRecord): boolean {
  if (typeof copy !== "object" || copy === null) return value === copy;
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  if (Object.getPrototypeOf(value) !== Object.getPrototypeOf(copy)) return false;
  if (Array.isArray(copy)) {
    if (!Array.isArray(value) || value.length !== copy.length) return false;
    for (let at = 0; at < copy.length; at++) if (!isSameValue(value[at], copy[at])) return false;
    return true;
  }
  if (!isJsonRecord(value) || !isJsonRecord(copy)) return false;
  const keys = Object.keys(copy);
  const found = Object.keys(value);
  if (keys.length !== found.length) return false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? "";
    if (key !== found[at] && !Object.prototype.propertyIsEnumerable.call(value, key)) return false;
    const one = value[key];
    const other = copy[key];
    // The constructor arguments and the fields are the same objects.
    if (owner !== undefined && one === owner[key] && other === ownerCopy?.[key]) continue;
    if (!isSameValue(one, other)) return false;
  }
  return true;
}
