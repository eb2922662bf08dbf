import {
  type ClaudeCodeInput,
  importClaudeCode,
} from "../../../../src/interop/import/claude-code/import-claude-code.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";

/** A record as Claude Code writes it, created by these functions. */
export type ClaudeRecord = { [field: string]: unknown };

export const SESSION_ID = "11111111-2222-4333-8444-555555555555";

/** Returns the `uuid` of a record for a short name. */
export function uuid(name: string): string {
  const hex = Buffer.from(name.padEnd(4, "_")).toString("hex").slice(-8).padStart(8, "0");
  return `${hex}-0000-4000-8000-000000000000`;
}

/** Number of records so far: later ones have later times, all within an hour, in whichever order files share a process. */
let count = 0;

/** Creates a record with an envelope; `parent` null starts the conversation. */
export function record(
  type: string,
  name: string,
  parent: string | null,
  fields: ClaudeRecord = {},
): ClaudeRecord {
  count++;
  return {
    parentUuid: parent === null ? null : uuid(parent),
    isSidechain: false,
    type,
    uuid: uuid(name),
    timestamp: new Date(Date.UTC(2026, 10, 22, 5, 0, 0, count * 10)).toISOString(),
    cwd: "/code/project",
    sessionId: SESSION_ID,
    version: "2.1.330",
    ...fields,
  };
}

export function user(
  name: string,
  parent: string | null,
  content: unknown,
  fields: ClaudeRecord = {},
): ClaudeRecord {
  return record("user", name, parent, { message: { role: "user", content }, ...fields });
}

/** Creates one record of a model's message; records with one `id` are one message. */
export function part(
  name: string,
  parent: string | null,
  id: string,
  block: unknown,
  { output = 10, stop = null, ...fields }: ClaudeRecord & { output?: number; stop?: string | null } = {},
): ClaudeRecord {
  const usage = {
    input_tokens: 3,
    output_tokens: output,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 7,
  };
  const message = { id, role: "assistant", model: "claude-x", content: [block], stop_reason: stop, usage };
  return record("assistant", name, parent, { message, requestId: `req_${id}`, ...fields });
}

export function text(said: string) {
  return { type: "text", text: said };
}

export function call(id: string, name = "Read", input: unknown = { path: "a" }) {
  return { type: "tool_use", id, name, input };
}

export function result(
  name: string,
  parent: string | null,
  id: string,
  content: unknown,
  more: ClaudeRecord = {},
) {
  return user(name, parent, [{ type: "tool_result", tool_use_id: id, content }], more);
}

/** Returns records as a file's text. */
export function joinLines(records: readonly unknown[]): string {
  return records.map((one) => `${JSON.stringify(one)}\n`).join("");
}

/** Imports records; returns the main session and those of its subagents. */
export function importAll(
  records: readonly ClaudeRecord[] | string,
  more: Partial<ClaudeCodeInput> = {},
): ImportedSession[] {
  const main = readSourceText(typeof records === "string" ? records : joinLines(records));
  return importClaudeCode({ main, sessionId: SESSION_ID, importedAt: "2027-01-01T00:00:00.000Z", ...more });
}
