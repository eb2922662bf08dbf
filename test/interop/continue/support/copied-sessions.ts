import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Time at which these tests export sessions. */
export const NOW = Date.parse("2026-11-28T05:00:00.000Z");

/** Id of the exported sessions in another program. */
export const ID = "aaaaaaaa-1111-4222-8333-444444444444";

/** A message that can be appended. */
export type Appended = Parameters<SessionManager["appendMessage"]>[0];

/** Creates a session of messages in order. */
export function makeSession(...messages: readonly Appended[]): SessionManager {
  const session = SessionManager.inMemory("/project");
  for (const message of messages) session.appendMessage(message);
  return session;
}

/** Opens a file of messages as another writer stored them, valid or not. */
export function openStoredMessages(messages: readonly object[]): SessionManager {
  const timestamp = "2026-11-01T00:00:00.000Z";
  const header = { type: "session", version: 3, id: "s1", timestamp, cwd: "/project" };
  const entries = messages.map((message, i) => {
    const parentId = i === 0 ? null : `e${i - 1}`;
    return { type: "message", id: `e${i}`, parentId, timestamp, message };
  });
  const path = join(temporaryFolder(), "s1.jsonl");
  writeFileSync(path, [header, ...entries].map((record) => `${JSON.stringify(record)}\n`).join(""));
  return SessionManager.open(path, { mode: "read-only" });
}
