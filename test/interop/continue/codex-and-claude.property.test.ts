import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSessionError, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import type { ExportedSession } from "../../../src/interop/continue/exported-session.ts";
import fc from "../../support/fast-check.ts";
import { scaleCount } from "../../support/share.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hostile } from "../convert/support/conversations.ts";
import { ID, NOW } from "./support/copied-sessions.ts";
import { readContext, readRollout, readTranscript } from "./support/exported-requests.ts";
import type { Said } from "./support/said.ts";

/** Messages that any writer may have stored, without the originals that go back only to their own provider. */
const histories = hostile({ api: "test", provider: "acme", model: "m1" }).map((messages) =>
  messages.map((message): object => ({ ...message, details: undefined })),
);

/** Opens a file with messages, some followed by compactions that keep the message before. */
function openStored(path: string, messages: readonly object[], compactedAfter: readonly number[]) {
  const timestamp = "2026-11-01T00:00:00.000Z";
  const records: object[] = [{ type: "session", version: 3, id: "s1", timestamp, cwd: "/project" }];
  let parentId: string | null = null;
  const append = (id: string, fields: object) => {
    records.push({ id, parentId, timestamp, ...fields });
    parentId = id;
  };
  messages.forEach((message, i) => {
    append(`e${i}`, { type: "message", message });
    const kept = { firstKeptEntryId: `e${i}`, tokensBefore: 9 };
    if (compactedAfter.includes(i)) append(`c${i}`, { type: "compaction", summary: `Up to ${i}`, ...kept });
  });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return SessionManager.open(path, { mode: "read-only" });
}

const isSaid = (one: Said) => !("text" in one) || one.text.trim() !== "";

function tryExport(...[agent, session, options]: Parameters<typeof exportFor>): ExportedSession | undefined {
  try {
    return exportFor(agent, session, options);
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION")) return undefined;
    throw error;
  }
}

const PROGRAMS = [
  { agent: "codex", read: readRollout },
  { agent: "claude-code", read: readTranscript },
] as const;

test.each(PROGRAMS)("$agent gets the context of any session, compacted or whole", ({ agent, read }) => {
  const folder = temporaryFolder();
  let count = 0;
  const compactions = fc.array(fc.nat(9), { maxLength: 2 });
  fc.assert(
    fc.property(histories, compactions, fc.constantFrom("context", "whole"), (messages, at, compacted) => {
      const session = openStored(join(folder, `${++count}.jsonl`), messages, at);
      const exported = tryExport(agent, session, { id: ID, now: NOW, compacted });
      const expected = readContext(agent, session);
      if (exported !== undefined) expect(read(exported)).toEqual(expected);
      else expect(expected.filter(isSaid)).toEqual([]);
    }),
    { numRuns: scaleCount(500) },
  );
});
