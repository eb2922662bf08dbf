import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RecallSettings } from "../../../src/apps/recall/recall.ts";
import { makeFileSource } from "../../../src/apps/recall/session-source.ts";
import { Scribe, writeLines } from "../cli/support/sessions.ts";
import { ask, ID, project, recallOver } from "./support/past.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.parse("2026-02-04T09:00:00.000Z");

type Project = ReturnType<typeof project>;

function over({ sessions, folder }: Project, more: Partial<RecallSettings>) {
  return recallOver(makeFileSource({ sessionDir: sessions }), folder, more);
}

/** Starts another session of the project, later than its first. */
function begin({ sessions, folder }: Project, id: string, startMs = START_MS): Scribe {
  const scribe = new Scribe(sessions, id, folder, undefined, startMs);
  scribe.user("totals of invoices");
  return scribe;
}

async function search(recall: ReturnType<typeof over>, ...caller: string[]) {
  const { text } = await ask(recall, "search_sessions", { query: "totals" }, { caller });
  return { text, found: [ID(1), ID(2)].filter((id) => text.includes(`session ${id} ·`)) };
}

test("is the one in the environment, also if it was imported", async () => {
  const past = project();
  const recall = over(past, { env: { CLAUDE_CODE_SESSION_ID: ID(1) } });
  const { text, found } = await search(recall);
  expect(text).toContain(`Left out: the running session ${ID(1)} (CLAUDE_CODE_SESSION_ID).`);
  expect(found).toEqual([]);
  expect((await ask(recall, "session_overview", { session: ID(1) })).isError).toBe(false);
  // Its subagents are later than the session itself.
  const other = new Scribe(past.sessions, `abcdef01.${ID(1)}.m2`, past.folder, undefined, START_MS);
  other.user("totals again");
  expect((await ask(recall, "search_sessions", { query: "again" })).text).toContain("Nothing found.");
});

test("is not the one in the environment after its program cleared it", async () => {
  const past = project();
  begin(past, ID(2));
  const subagent = begin(past, `${ID(1)}.a7`, START_MS + 60_000);
  subagent.assistant("Done.");
  const recall = over(past, { env: { CLAUDE_CODE_SESSION_ID: ID(1) }, now: () => START_MS + 240_000 });
  const { text, found } = await search(recall);
  expect(found).toEqual([ID(1)]);
  expect(text).toContain(`Left out: ${ID(2)}, still being written`);
});

test("is the one given by the call, whatever the environment contains", async () => {
  const past = project();
  begin(past, ID(2));
  const recall = over(past, { env: { CODEX_THREAD_ID: ID(1) } });
  expect((await search(recall, ID(2))).found).toEqual([ID(1)]);
});

test("is not a newer session of another project", async () => {
  const past = project();
  const elsewhere = new Scribe(past.sessions, ID(2), "/elsewhere", undefined, START_MS);
  elsewhere.user("totals");
  const recall = over(past, { env: { PI_SESSION_ID: ID(1) }, project: undefined });
  expect((await search(recall)).found).toEqual([ID(2)]);
});

test("is one whose last turn has no end, but not one that has just ended", async () => {
  const past = project();
  const recall = over(past, { now: () => START_MS + 5 * 60_000 });
  const other = begin(past, ID(2));
  expect((await search(recall)).found).toEqual([ID(1)]);
  other.assistant("They are right.");
  expect((await search(recall)).found).toEqual([ID(1), ID(2)]);
  other.call("search_sessions", { query: "totals" });
  expect((await search(recall)).found).toEqual([ID(1)]);
  // It was killed in this turn, an hour ago.
  const later = over(past, { now: () => START_MS + HOUR_MS });
  expect((await search(later)).found).toEqual([ID(1), ID(2)]);
});

test("is also one whose last turn has not been imported", async () => {
  const past = project();
  const source = join(past.folder, "transcript.jsonl");
  writeFileSync(source, "");
  const timestamp = "2026-02-03T22:00:00.000Z";
  const data = { source: "claude-code", sourceId: ID(2), sourcePath: source };
  const message = { role: "user", content: "totals of an imported session", timestamp: 1 };
  const path = writeLines(past.sessions, "imported.jsonl", [
    { type: "custom", id: "a1", parentId: null, timestamp, customType: "sessiontree.import", data },
    { type: "message", id: "a2", parentId: "a1", timestamp, message },
  ]);
  const importedMs = Math.floor(statSync(path).mtimeMs);
  const askTenSecondsLater = async (wroteMs: number) => {
    utimesSync(source, wroteMs / 1000, wroteMs / 1000);
    const recall = over(past, { now: () => wroteMs + 10_000, project: undefined });
    return (await search(recall)).text;
  };
  expect(await askTenSecondsLater(importedMs - 1_000)).toContain("totals of an imported session");
  expect(await askTenSecondsLater(importedMs + 1_000)).not.toContain("totals of an imported session");
});
