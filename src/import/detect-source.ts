import { fieldsOf } from "../context/entry-fields.ts";
import { parseJson, parseRecord } from "../jsonl/decode.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import type { SourceName } from "./imported-session.ts";
import { readMessageDocument } from "./messages/message-form.ts";

/**
 * Format of a text: sessions that can be imported, those of pi and oh-my-pi, which open without an import, those of pi's
 * version 4, which do not, or an array of messages.
 */
export type DetectedSource = SourceName | "pi" | "oh-my-pi" | "pi-v4";

/** Number of lines to examine: the first lines of a transcript may not reveal its format. */
const MOST_LINES = 20;

/**
 * Detects which program a session belongs to from its first lines.
 *
 * @param text - A file, or its beginning.
 * @returns Undefined if the format is unknown.
 */
export function detectSource(text: string): DetectedSource | undefined {
  const lines = text.replace(/^\uFEFF/, "").split("\n", MOST_LINES * 2);
  const records = lines.map(parseRecord).filter((record) => record !== undefined);
  const found = records
    .slice(0, MOST_LINES)
    .map(sourceOfRecord)
    .find((source) => source !== undefined);
  return found ?? sourceOfDocument(parseJson(text)?.value);
}

function sourceOfRecord(record: JsonRecord): DetectedSource | undefined {
  const { type, sessionId } = record;
  if (type === "session") return "titleSource" in record || "title" in record ? "oh-my-pi" : "pi";
  if (type === "title" && "v" in record) return "oh-my-pi";
  if (record["kind"] === "header") return "pi-v4";
  if (type === "session_meta" || record["record_type"] === "state") return "codex";
  if (isCodexRecord(record)) return "codex";
  if (typeof sessionId !== "string") return undefined;
  if ("projectHash" in record) return "gemini";
  return "uuid" in record || "leafUuid" in record ? "claude-code" : undefined;
}

function isCodexRecord({ type, payload }: JsonRecord): boolean {
  return (
    isJsonRecord(payload) && (type === "response_item" || type === "event_msg" || type === "turn_context")
  );
}

function sourceOfDocument(value: unknown): DetectedSource | undefined {
  const { sessionId, projectHash, messages, session, items } = fieldsOf(value);
  if (typeof sessionId === "string" && projectHash !== undefined && Array.isArray(messages)) return "gemini";
  if (isJsonRecord(session) && Array.isArray(items)) return "codex";
  return readMessageDocument(value) === undefined ? undefined : "messages";
}
