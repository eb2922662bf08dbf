import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { findBuffers, withPlainBytes } from "./serializable.ts";

/** What a serializer made of a value: JSON as JSON, anything else as base64 with its type. */
export type StoredValue = { readonly json: unknown } | { readonly type: string; readonly base64: string };

/**
 * Serializes a value. What is made of it when this returns is of the value as it was when this was called.
 *
 * @param what - Name of the value in errors.
 * @throws {SessionError} `ENTRY_INVALID` if the serializer fails, or LangGraph's would replace or leave out part of the value.
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
    throw new SessionError(
      "ENTRY_INVALID",
      `${what} holds what cannot be serialized, so nothing was written. Keep plain data in the state, without functions, symbols, cycles and BigInts, nested at most 1,000 levels deep.`,
      { cause, details: { what } },
    );
  }
}

/** Restores a value; undefined if nothing is stored, as after a redaction. */
export async function loadValue(serde: SerializerProtocol, stored: unknown): Promise<unknown> {
  const { json, type, base64 } = fieldsOf(stored);
  if (json !== undefined) return serde.loadsTyped("json", encodeParsed(json));
  if (typeof type !== "string" || typeof base64 !== "string") return undefined;
  return serde.loadsTyped(type, new Uint8Array(Buffer.from(base64, "base64")));
}
