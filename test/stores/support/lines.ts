import type { SessionFacts } from "../../../src/core/facts/session-facts.ts";
import type { NewEntryLine, NewLine } from "../../../src/stores/contract/session-backend.ts";
import { makeEntryLine } from "../../../src/stores/remote/line-codec.ts";

export const TIME_MS = Date.parse("2026-03-01T12:00:00.000Z");

/** Returns the facts of a session that has just started. */
export function makeSessionFacts(id: string, facts: Partial<SessionFacts> = {}): SessionFacts {
  const cwd = "/project";
  const none = { name: null, parentSession: null, messageCount: 0, firstMessage: null };
  return { id, cwd, ...none, createdMs: TIME_MS, lastMessageMs: null, ...facts };
}

/** Returns the line of a header. */
export function headerLine(id: string): NewLine {
  return {
    text: JSON.stringify({
      type: "session",
      version: 3,
      id,
      timestamp: new Date(TIME_MS).toISOString(),
      cwd: "/project",
    }),
  };
}

/** Returns the line of a user message. */
export function messageLine(id: string, parentId: string | null, content = id, ms = TIME_MS): NewEntryLine {
  const message = { role: "user", content, timestamp: ms };
  const timestamp = new Date(ms).toISOString();
  return makeEntryLine(JSON.stringify({ type: "message", id, parentId, timestamp, message }), true);
}

/** Returns the line of an entry of another type. */
export function otherLine(type: string, id: string, fields: object = {}): NewEntryLine {
  const base = { type, id, parentId: null, timestamp: new Date(TIME_MS).toISOString() };
  return makeEntryLine(JSON.stringify({ ...base, ...fields }), true);
}

/** Yields lines as `create` receives them, each array one piece. */
export async function* yieldPieces(...pieces: (readonly NewLine[])[]): AsyncGenerator<readonly NewLine[]> {
  yield* pieces;
}
