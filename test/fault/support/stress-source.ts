import { basename, dirname, join } from "node:path";

const SESSION_ID = "5e55a000-0000-4000-8000-000000000001";

/** Returns the path of the transcript from which the session of a round was imported: outside of the session's folder. */
export function sourceBeside(path: string): string {
  const folder = dirname(path);
  return join(dirname(folder), `${basename(folder)}-source`, `${SESSION_ID}.jsonl`);
}

/** Returns the ids of a transcript's records; an imported entry has the first eight characters. */
export function findRecordIds(text: string): string[] {
  return Array.from(text.matchAll(/"uuid":"([^"]*)"/g), ([, uuid = ""]) => uuid);
}

/**
 * Creates a record of a Claude Code transcript, with its line break.
 *
 * @param text - Transcript so far: the record follows its last one.
 */
export function sourceRecord(text: string, content: string): string {
  const record = {
    type: "user",
    uuid: crypto.randomUUID(),
    parentUuid: findRecordIds(text).at(-1) ?? null,
    sessionId: SESSION_ID,
    timestamp: new Date().toISOString(),
    cwd: "/project",
    version: "2.0.0",
    isSidechain: false,
    userType: "external",
    message: { role: "user", content },
  };
  return `${JSON.stringify(record)}\n`;
}
