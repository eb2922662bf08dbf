import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import type { ImportSessionsOptions, SessionImport } from "../../../src/interop/history/import-sessions.ts";
import { watchSessions } from "../../../src/interop/history/watch-sessions.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinLines, part, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";
import { CLAUDE_PATH, RECORDS, SECRET } from "./support/transcript.ts";

const OTHER_ID = "0199d8e6-ffff-4000-8000-00000000ffff";
const OTHER_PATH = CLAUDE_PATH.replace(SESSION_ID, OTHER_ID);

// Deletions here are marked in this folder.
beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Watches a test's folders. */
function watch(places: Places, more: Partial<ImportSessionsOptions> = {}) {
  const end = new AbortController();
  const problems: string[] = [];
  const changes = watchSessions({
    store: fileStore({ sessionDir: places.sessions }),
    env: { HOME: places.home },
    cacheDir: places.cacheDir,
    signal: end.signal,
    onSkipped: (_, error) => problems.push(String(error)),
    ...more,
  });
  onTestFinished(() => end.abort());
  /** Waits for the next change. */
  const next = async (): Promise<SessionImport> => {
    const { value } = await changes.next();
    if (!value) throw new Error("The watch has ended.");
    return value;
  };
  /** Collects all changes until the watch ends. */
  const rest = async () => {
    const all: SessionImport[] = [];
    for await (const one of changes) all.push(one);
    return all;
  };
  return { next, rest, problems, end: () => end.abort() };
}

/** Writes the first records of the transcript and half of the next one; returns a function that appends the rest of it. */
function putTorn(places: Places, count: number): () => void {
  const whole = joinLines(RECORDS.slice(0, count));
  const next = joinLines(RECORDS.slice(count, count + 1));
  const path = places.put(CLAUDE_PATH, whole + next.slice(0, 40));
  return () => appendFileSync(path, next.slice(40) + joinLines(RECORDS.slice(count + 1)));
}

/** Returns the result of importing the whole transcript into an empty folder. */
async function importedAtOnce(): Promise<string> {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(RECORDS));
  await places.import();
  return bodyOf([...places.files().values()][0] ?? "");
}

/** Returns a session without where and when it was imported. */
function bodyOf(session: string): string {
  return session.split("\n").slice(2).join("\n");
}

test("imports existing and appended records, next to another watch, and ends when aborted", async () => {
  const places = new Places();
  const finish = putTorn(places, 3);
  const [one, other] = [watch(places), watch(places, { cacheDir: `${places.cacheDir}2` })];
  expect(await one.next()).toMatchObject({
    status: "new",
    source: "claude-code",
    issues: [{ code: "TAIL_TORN" }],
  });
  finish();
  // Whichever sees it first imports it; the other one finds nothing to do.
  const { status, path } = await Promise.race([one.next(), other.next()]);
  expect(status).toBe("grown");
  expect(bodyOf(readFileSync(path ?? "", "utf8"))).toBe(await importedAtOnce());
  one.end();
  other.end();
  expect([await one.rest(), one.problems, await other.rest(), other.problems]).toEqual([[], [], [], []]);
  expect(places.files().size).toBe(1);
});

test("does not restore what was redacted or deleted here", async () => {
  const places = new Places();
  const path = places.put(CLAUDE_PATH, joinLines(RECORDS.slice(0, 4)));
  const watching = watch(places);
  const session = SessionManager.open((await watching.next()).path ?? "");
  const secret = session.getEntries().find((entry) => JSON.stringify(entry).includes(SECRET));
  session.redactEntry(secret?.id ?? "");
  session.close();
  appendFileSync(path, joinLines(RECORDS.slice(4)));
  const grown = await watching.next();
  expect(grown.status).toBe("grown");
  const content = readFileSync(grown.path ?? "", "utf8");
  expect([content.includes(SECRET), content.includes("done")]).toEqual([false, true]);
  await deleteSession(grown.path ?? "", { permanent: true });
  appendFileSync(path, joinLines([user("q9", "a3", "and now?")]));
  places.put(OTHER_PATH, joinLines([{ ...user("o", null, "other"), sessionId: OTHER_ID }]));
  // The deleted one is checked before or with this one.
  expect(await watching.next()).toMatchObject({ status: "new", sourceId: OTHER_ID });
  expect(places.files().size).toBe(1);
});

test("reports a write failure once, however often it is retried", async () => {
  const places = new Places();
  const failing = places.put(CLAUDE_PATH, joinLines(RECORDS.slice(0, 4)));
  const [{ path } = { path: null }] = await places.import();
  rmSync(path ?? "");
  mkdirSync(path ?? "");
  const other = { ...user("o", null, "other"), sessionId: OTHER_ID };
  const good = places.put(OTHER_PATH, joinLines([other]));
  const watching = watch(places);
  expect(await watching.next()).toMatchObject({ status: "new", sourceId: OTHER_ID });
  const grow = async (uuid: string) => {
    appendFileSync(good, joinLines([{ ...user(uuid, "o", "more"), sessionId: OTHER_ID }]));
    expect(await watching.next()).toMatchObject({ status: "grown", sourceId: OTHER_ID });
  };
  // The other one is not retried in this round.
  await grow("o2");
  appendFileSync(failing, joinLines(RECORDS.slice(4)));
  await grow("o3");
  await grow("o4");
  expect(watching.problems).toHaveLength(1);
});

test("reports a deleted source once, keeps its session, and continues when the source is back", async () => {
  const places = new Places();
  const path = places.put(CLAUDE_PATH, joinLines(RECORDS.slice(0, 4)));
  const watching = watch(places);
  const made = await watching.next();
  rmSync(path);
  expect(await watching.next()).toMatchObject({ status: "gone", path: made.path, id: made.id });
  expect((await places.import()).map(({ status }) => status)).toEqual(["gone"]);
  expect(await places.import({ sources: ["codex"] })).toEqual([]);
  places.put(CLAUDE_PATH, joinLines([...RECORDS, part("a9", "a3", "msg_9", text("back"))]));
  expect(await watching.next()).toMatchObject({ status: "grown", path: made.path });
  watching.end();
  expect(await watching.rest()).toEqual([]);
});
