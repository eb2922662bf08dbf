import { type CodexInput, importCodex } from "../../../../src/interop/import/codex/import-codex.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import { joinLines } from "./claude-records.ts";
import { readView } from "./session-view.ts";

/** A record as Codex writes it, created by these functions. */
export type CodexRecord = { [field: string]: unknown };

export const THREAD_ID = "01a201b4-0000-7000-8000-000000000001";

let second = 0;

function record(type: string, payload: object): CodexRecord {
  second++;
  return { timestamp: new Date(Date.UTC(2026, 10, 22, 5, 0, second)).toISOString(), type, payload };
}

export function meta(fields: object = {}): CodexRecord {
  const timestamp = "2026-11-22T05:00:00.000Z";
  const payload = { id: THREAD_ID, timestamp, cwd: "/code/project", cli_version: "0.136.0", ...fields };
  return record("session_meta", payload);
}

export function item(type: string, fields: object): CodexRecord {
  return record("response_item", { type, ...fields });
}

export function event(type: string, fields: object = {}): CodexRecord {
  return record("event_msg", { type, ...fields });
}

export function settings(model: string, effort?: string): CodexRecord {
  return record("turn_context", { cwd: "/code/project", model, ...(effort !== undefined && { effort }) });
}

export function said(
  role: "user" | "assistant" | "developer",
  text: string,
  fields: object = {},
): CodexRecord {
  const type = role === "assistant" ? "output_text" : "input_text";
  return item("message", { role, content: [{ type, text }], ...fields });
}

/** Returns a turn that starts with a prompt. */
export function turn(prompt: string, ...records: CodexRecord[]): CodexRecord[] {
  return [
    event("task_started"),
    said("user", prompt),
    event("user_message", { message: prompt }),
    ...records,
  ];
}

export function call(id: string, fields: object = {}): CodexRecord {
  return item("function_call", { name: "exec_command", arguments: '{"cmd":"ls"}', call_id: id, ...fields });
}

export function output(id: string, text: unknown, fields: object = {}): CodexRecord {
  return item("function_call_output", { call_id: id, output: text, ...fields });
}

/** Running totals after a call. */
export function totals(total: number, last: object): CodexRecord {
  return event("token_count", {
    info: { total_token_usage: { total_tokens: total }, last_token_usage: last },
  });
}

export function usage(responseId: string, tokens: object): CodexRecord {
  return record("token_usage_record", { response_id: responseId, usage: tokens });
}

export function compacted(message: string, replacement?: object[], fields: object = {}): CodexRecord {
  return record("compacted", {
    message,
    ...(replacement && { replacement_history: replacement }),
    ...fields,
  });
}

/** Numbers records, as newer versions do. */
export function numbered(records: readonly CodexRecord[], from = 0): CodexRecord[] {
  return records.map((one, i) => ({ ...one, ordinal: from + i }));
}

/** Returns records as a file's text. */
export function rollout(records: readonly CodexRecord[], path = `rollout-x-${THREAD_ID}.jsonl`) {
  return { path, ...readSourceText(joinLines(records)) };
}

export function importThread(
  files: readonly (readonly CodexRecord[])[],
  more: Partial<CodexInput> = {},
): ImportedSession | undefined {
  const rollouts = files.map((records) => rollout(records));
  return importCodex({ rollouts, importedAt: "2027-01-01T00:00:00.000Z", ...more });
}

/** Imports one file and reads the session back. */
export function viewThread(records: readonly CodexRecord[], more: Partial<CodexInput> = {}) {
  const session = importThread([records], more);
  if (session === undefined) throw new Error("no session was made");
  return readView(session);
}
