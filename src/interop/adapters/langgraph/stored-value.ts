import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";

/** A serialized value: JSON is stored as JSON, and anything else as base64 with its type. */
export type StoredValue = { readonly json: unknown } | { readonly type: string; readonly base64: string };

/**
 * Serializes a value as it is at the time of this call, even if the value changes before the promise resolves.
 *
 * @param what - Name of the value for error messages.
 * @throws {SessionError} `ENTRY_INVALID` if the serializer fails, or if LangGraph's serializer would replace or omit part of the
 *   value.
 */
export async function dumpValue(
  serde: SerializerProtocol,
  value: unknown,
  what: string,
): Promise<StoredValue> {
  try {
    const buffers = serde instanceof JsonPlusSerializer ? findBuffers(value) : [];
    const [type, bytes] = await withPlainBytes(buffers, () => serde.dumpsTyped(value));
    const parsed = type === "json" ? parseJson(new TextDecoder().decode(bytes)) : undefined;
    if (parsed !== undefined) return { json: parsed.value };
    return { type, base64: Buffer.from(bytes).toString("base64") };
  } catch (cause) {
    throw makeValueError(what, cause);
  }
}

/** Creates the error for a value that cannot be serialized. */
export function makeValueError(what: string, cause: unknown): SessionError {
  const message = `${what} contains data that cannot be serialized, so nothing was written. Keep plain data in the state, without functions, symbols, cycles, or BigInts, nested at most 1,000 levels deep.`;
  return new SessionError("ENTRY_INVALID", message, { cause, details: { what } });
}

/** Restores a value; undefined if nothing is stored, for example after a redaction. */
export async function loadValue(serde: SerializerProtocol, stored: unknown): Promise<unknown> {
  const { json, type, base64 } = toRecord(stored);
  if (json !== undefined) return serde.loadsTyped("json", encodeParsed(json));
  if (typeof type !== "string" || typeof base64 !== "string") return undefined;
  return serde.loadsTyped(type, new Uint8Array(Buffer.from(base64, "base64")));
}

/**
 * Maximum nesting depth of a value. LangGraph's serializer can read back a few thousand nesting levels, depending on the stack
 * size.
 */
const MAX_DEPTH = 1_000;

/**
 * Rejects values that JSON would silently omit and finds buffers.
 *
 * @returns The buffers in the value, which JSON would convert to plain objects.
 * @throws {TypeError} With the path of a function, a symbol, or a value that is nested too deeply; also for a cycle or a BigInt.
 */
function findBuffers(value: unknown): Buffer[] {
  const buffers: Buffer[] = [];
  const depths = new WeakMap<object, number>();
  JSON.stringify({ value }, function (this: Record<string, unknown>, key: string, made: unknown) {
    const given = this[key];
    if (typeof made === "function" || typeof made === "symbol")
      throw new TypeError(`${key || "the value"} is a ${typeof made}`);
    if (given instanceof Uint8Array) {
      if (Buffer.isBuffer(given)) buffers.push(given);
      return null;
    }
    if (typeof made !== "object" || made === null) return made;
    const depth = (depths.get(this) ?? -1) + 1;
    if (depth > MAX_DEPTH) throw new TypeError(`it is nested deeper than ${MAX_DEPTH} levels`);
    const parts = made instanceof Map || made instanceof Set ? [...made] : made;
    depths.set(parts, depth);
    return parts;
  });
  return buffers;
}

/** Runs a function while serializers treat buffers as plain bytes instead of using `toJSON`. */
function withPlainBytes<T>(buffers: readonly Buffer[], call: () => T): T {
  for (const buffer of buffers)
    Object.defineProperty(buffer, "toJSON", { value: undefined, configurable: true });
  try {
    return call();
  } finally {
    for (const buffer of buffers) Reflect.deleteProperty(buffer, "toJSON");
  }
}
