import * as nodeFs from "node:fs";
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isDeletedImport, markDeletedImport } from "../../../src/catalog/list/deleted-imports.ts";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { importClaudeCode } from "../../../src/interop/import/claude-code/import-claude-code.ts";
import { readSourceText } from "../../../src/interop/import/source-text.ts";
import { getCacheFolder } from "../../../src/session/files/user-folders.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinLines, part, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";
import { syncFile } from "./support/sync-file.ts";
import { CLAUDE_PATH, forget, put, RECORDS, SECRET } from "./support/transcript.ts";

const ORIGIN = { source: "claude-code", sourceId: SESSION_ID };

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

function saidIn(session: SessionManager): string[] {
  expect(session.issues).toEqual([]);
  return session.buildSessionContext().messages.map((message) => JSON.stringify(message));
}

function saidAt(path: string): string[] {
  return saidIn(SessionManager.open(path, { mode: "read-only" }));
}

function entryHolding(session: SessionManager, words: string): string {
  return session.getEntries().find((entry) => JSON.stringify(entry).includes(words))?.id ?? "";
}

/** Imports the first four records. */
async function begin(): Promise<{ places: Places; path: string }> {
  const places = new Places();
  put(places, 4);
  const [one] = await places.import();
  return { places, path: one?.path ?? "" };
}

/** Returns the session that the records make. */
function imported(count: number) {
  const main = readSourceText(joinLines(RECORDS.slice(0, count)));
  const [one] = importClaudeCode({ main, sessionId: SESSION_ID, importedAt: "2026-11-23T00:00:00.000Z" });
  if (one === undefined) throw new Error("no session");
  return one;
}

/** Changes by a user who does not continue the conversation. */
const NOTES: readonly [string, (session: SessionManager) => unknown][] = [
  ["named", (session) => session.appendSessionInfo("leak")],
  ["labeled", (session) => session.appendLabelChange(entryHolding(session, "tap"), "here")],
  ["redacted", (session) => session.redactEntry(entryHolding(session, SECRET))],
  ["moved back and forth", (session) => session.branch(session.getLeafId() ?? "")],
  [
    "named, labeled and redacted",
    (session) => {
      session.appendSessionInfo("leak");
      session.redactEntry(entryHolding(session, SECRET));
      session.appendLabelChange(entryHolding(session, "tap"), "here");
    },
  ],
];

describe("a session that was only annotated here", () => {
  test.each(NOTES)("(%s) gets the growth of its source on the path", async (_, annotate) => {
    const { places, path } = await begin();
    const session = SessionManager.open(path);
    annotate(session);
    const name = session.getSessionName();
    const labels = session.getEntries().filter(({ type }) => type === "label").length;
    await session.close();
    for (const count of [4, 5, 6, 6]) {
      put(places, count);
      forget(places);
      await places.import();
      expect(saidAt(path)).toHaveLength(count);
    }
    const after = SessionManager.open(path, { mode: "read-only" });
    expect(after.getSessionName()).toBe(name);
    expect(after.getEntries().filter(({ type }) => type === "label")).toHaveLength(labels);
    const before = readFileSync(path, "utf8");
    forget(places);
    expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test.each(NOTES)("(%s) in a store gets it, too", async (_, annotate) => {
    const places = new Places();
    const store = memoryStore();
    put(places, 4);
    await places.import({ store, storeName: "memory" });
    const session = await store.open(SESSION_ID);
    annotate(session);
    await session.close();
    put(places);
    forget(places);
    await places.import({ store, storeName: "memory" });
    expect(saidIn(await store.open(SESSION_ID))).toHaveLength(6);
    await store.close();
  });

  test("gets it if it is annotated during the import, too", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    await syncFile(path, imported(4));
    const mine = SessionManager.open(path);
    let calls = 0;
    const fs = {
      ...nodeFs,
      writeSync: ((...given: Parameters<typeof nodeFs.writeSync>) => {
        if (calls++ === 0) mine.appendSessionInfo("leak");
        return nodeFs.writeSync(...given);
      }) as typeof nodeFs.writeSync,
    };
    expect(await syncFile(path, imported(6), fs)).toBe("grown");
    expect(calls).toBeGreaterThan(0);
    expect(saidAt(path)).toHaveLength(6);
    await mine.close();
  });

  test("keeps what was then added here as its leaf", async () => {
    const { places, path } = await begin();
    const session = SessionManager.open(path);
    session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
    session.appendSessionInfo("leak");
    await session.close();
    for (const count of [5, 6]) {
      put(places, count);
      await places.import();
      expect(saidAt(path).at(-1)).toContain("mine");
    }
  });
});

describe("content redacted here", () => {
  test("stays redacted in a later version of an entry when the session is re-imported", async () => {
    const places = new Places();
    const grow = (words: readonly string[]) =>
      places.put(
        CLAUDE_PATH,
        joinLines([
          user("q", null, "hello"),
          ...words.map((word, at) => part(`a${at}`, at === 0 ? "q" : `a${at - 1}`, "msg_1", text(word))),
        ]),
      );
    grow(["one"]);
    const [one] = await places.import();
    const session = SessionManager.open(one?.path ?? "");
    session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
    grow(["one", SECRET]);
    await places.import();
    session.refresh();
    session.redactEntry(entryHolding(session, SECRET));
    await session.close();
    const [fresh] = await places.import({ fresh: true });
    expect(fresh?.status).toBe("new");
    expect(readFileSync(fresh?.path ?? "", "utf8")).not.toContain(SECRET);
  });

  test("stays redacted after the import and redaction records are redacted, too", async () => {
    const { places, path } = await begin();
    const session = SessionManager.open(path);
    const recordId = session.redactEntry(entryHolding(session, SECRET));
    session.redactEntry(session.getEntries()[0]?.id ?? "");
    session.redactEntry(recordId);
    await session.close();
    for (const fresh of [false, true]) {
      put(places);
      forget(places);
      const [now] = await places.import({ fresh });
      expect(readFileSync(now?.path ?? "", "utf8")).not.toContain(SECRET);
    }
    await deleteSession(path, { permanent: true });
    expect(isDeletedImport(ORIGIN)).toBe(true);
  });

  test("is not restored through a fork of its source that is imported later", async () => {
    const { places, path } = await begin();
    const session = SessionManager.open(path);
    session.redactEntry(entryHolding(session, SECRET));
    await session.close();
    const forkId = "0199d8e6-ffff-4000-8000-00000000ffff";
    const copied = RECORDS.slice(0, 4).map((record) => ({
      ...record,
      sessionId: forkId,
      forkedFrom: { sessionId: SESSION_ID, messageUuid: Object(record).uuid },
    }));
    places.put(
      CLAUDE_PATH.replace(SESSION_ID, forkId),
      joinLines([...copied, { ...user("f", "a2", "otherwise"), sessionId: forkId }]),
    );
    const all = await places.import();
    const fork = all.find(({ sourceId }) => sourceId === forkId);
    expect(fork?.status).toBe("new");
    expect(readFileSync(fork?.path ?? "", "utf8")).not.toContain(SECRET);
    expect(saidAt(fork?.path ?? "")).toHaveLength(5);
    forget(places);
    expect((await places.import()).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });
});

describe("a fork or clone made here", () => {
  test("never gets new records of the source, and its deletion leaves the imported session in place", async () => {
    const { places, path } = await begin();
    const session = SessionManager.open(path);
    const clone = SessionManager.forkFrom(path, "/code/project", { sessionDir: places.sessions });
    const cloned = clone.getSessionFile() ?? "";
    await clone.close();
    await session.close();
    const before = readFileSync(cloned, "utf8");
    put(places);
    forget(places);
    expect(await places.import()).toMatchObject([{ status: "grown", path }]);
    expect(readFileSync(cloned, "utf8")).toBe(before);
    await deleteSession(cloned, { permanent: true });
    expect(isDeletedImport(ORIGIN)).toBe(false);
    unlinkSync(path);
    expect(await places.import()).toMatchObject([{ status: "new" }]);
  });
});

describe("a session deleted here", () => {
  test("stays deleted if that happens during its import", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    await syncFile(path, imported(4));
    const remove = () => {
      if (!nodeFs.existsSync(path)) return;
      markDeletedImport(ORIGIN);
      unlinkSync(path);
    };
    const { openSync, fstatSync, readSync, writeSync, lstatSync } = nodeFs;
    const calls = { openSync, fstatSync, readSync, writeSync, lstatSync };
    for (const [name, original] of Object.entries<(...given: never[]) => unknown>(calls)) {
      let isFirst = true;
      const fs = {
        ...nodeFs,
        [name]: (...given: never[]) => {
          const done = original(...given);
          if (isFirst) remove();
          isFirst = false;
          return done;
        },
      };
      await syncFile(path, imported(4));
      let status: string | undefined;
      try {
        status = await syncFile(path, imported(6), fs, () => !isDeletedImport(ORIGIN));
      } catch (error) {
        expect(error).toMatchObject({ code: "WRITE_FAILED" });
      }
      expect([name, nodeFs.existsSync(path)]).toEqual([name, false]);
      expect(["deleted", "grown", undefined]).toContain(status);
    }
  });
});

describe("a power loss", () => {
  test("with a hole of zeros in the middle is detected, although size and end are correct", async () => {
    const places = new Places();
    put(places);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const whole = readFileSync(path);
    const holed = Buffer.from(whole);
    const half = whole.length >> 1;
    holed.fill(0, half, half + 300);
    const { mtime } = nodeFs.statSync(path);
    writeFileSync(path, holed);
    nodeFs.utimesSync(path, mtime, mtime);
    // The system was started after the import.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 1000 * 60 * 60 * 24 * 365 * 50);
    const [now] = await places.import();
    expect(now?.status).not.toBe("unchanged");
    expect(readFileSync(path)).toEqual(whole);
    expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
    vi.restoreAllMocks();
  });
});

test("text that records no longer contain is removed from list caches", async () => {
  vi.stubEnv("XDG_CACHE_HOME", temporaryFolder());
  const { places, path } = await begin();
  const sessionDir = dirname(path);
  expect(await listSessions({ sessionDir })).toMatchObject([{ firstMessage: `the key is ${SECRET}` }]);
  const cached = () => {
    const folder = getCacheFolder();
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  };
  expect(cached().join()).toContain(SECRET);
  places.put(CLAUDE_PATH, joinLines(RECORDS).replaceAll(SECRET, "[gone]"));
  forget(places);
  await places.import();
  expect(readFileSync(path, "utf8")).not.toContain(SECRET);
  expect(cached().join()).not.toContain(SECRET);
});
