import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";

/** What a serializer made of a value: JSON as JSON, anything else as base64 with its type. */
export type StoredValue = { readonly json: unknown } | { readonly type: string; readonly base64: string };

/** What LangGraph's serializer writes for what JSON cannot hold. */
const REPLACED = /\[Circular\]|\[unable to serialize/;

/**
 * Serializes a value.
 *
 * @param what - Name of the value in errors.
 * @throws {SessionError} `ENTRY_INVALID` if the serializer fails, or would replace part of the value.
 */
export async function dumpValue(
  serde: SerializerProtocol,
  value: unknown,
  what: string,
): Promise<StoredValue> {
  try {
    const [type, bytes] = await serde.dumpsTyped(value);
    const text = type === "json" ? new TextDecoder().decode(bytes) : "";
    // A text may say the same; a cycle or a BigInt throws here.
    if (REPLACED.test(text)) JSON.stringify(value);
    const parsed = type === "json" ? parseJson(text) : undefined;
    if (parsed !== undefined) return { json: parsed.value };
    return { type, base64: Buffer.from(bytes).toString("base64") };
  } catch (cause) {
    throw new SessionError(
      "ENTRY_INVALID",
      `${what} holds what cannot be serialized, so nothing was written. Keep plain data in the state, without cycles and BigInts.`,
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
