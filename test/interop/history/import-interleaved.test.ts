import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { isDeletedImport, markDeletedImport } from "../../../src/catalog/list/deleted-imports.ts";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { ImportCache } from "../../../src/interop/history/import-cache.ts";
import { FileTarget, importTarget } from "../../../src/interop/history/import-target.ts";
import { findLost, keepLost } from "../../../src/interop/history/lost-sessions.ts";
import { syncSession } from "../../../src/interop/history/sync-session.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import type { SessionStore } from "../../../src/stores/contract/session-store.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { beforeCall } from "../../support/before-call.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  type ClaudeRecord,
  importAll,
  joinLines,
  part,
  SESSION_ID,
  text,
  user,
} from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";
import { CLAUDE_PATH, forget, put, RECORDS, SECRET } from "./support/transcript.ts";

const ORIGIN = { source: "claude-code", sourceId: SESSION_ID };

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

/** A folder of files in which others act once after a session was read, as other processes can. */
class Beside extends FileTarget {
  #act: (() => Promise<unknown>) | undefined;

  constructor(path: string, act?: () => Promise<unknown>) {
    super({ folder: dirname(path), root: "" }, () => new Map());
    this.#act = act;
  }

  override async read(path: string): Promise<Uint8Array | undefined> {
    const bytes = await super.read(path);
    const act = this.#act;
    this.#act = undefined;
    await act?.();
    return bytes;
  }
}

/** Imports records into a file; others act once after it was read. */
async function sync(
  path: string,
  records: readonly ClaudeRecord[],
  act?: () => Promise<unknown>,
): Promise<string> {
  const [imported] = importAll(records);
  if (imported === undefined) throw new Error("The records hold no session.");
  return syncSession(new Beside(path, act), path, imported.header, imported, () => true);
}

/** Appends a message to a session, and returns its id. */
async function say(path: string): Promise<string> {
  const session = SessionManager.open(path);
  const id = session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  return id;
}

async function redact(path: string): Promise<void> {
  const session = SessionManager.open(path);
  for (const entry of session.getEntries())
    if (JSON.stringify(entry).includes(SECRET)) session.redactEntry(entry.id);
  await session.close();
}

describe("an import that has read a session", () => {
  test("restores nothing that is redacted then", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    const answer = (...words: string[]) =>
      words.map((word, at) =>
        part(`a${at}`, at === 0 ? "q" : `a${at - 1}`, "msg_1", text(`${word} ${SECRET}`)),
      );
    const asked = user("q", null, "hello");
    await sync(path, [asked, ...answer("one")]);
    await say(path);
    await sync(path, [asked, ...answer("one", "two")], () => redact(path));
    expect(readFileSync(path, "utf8")).not.toContain(SECRET);
  });

  test("leaves the leaf with a concurrent writer, although another import has read more", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    await sync(path, RECORDS.slice(0, 4));
    const mine = await say(path);
    await sync(path, RECORDS.slice(0, 5), () => sync(path, RECORDS));
    const session = SessionManager.open(path, { mode: "read-only" });
    expect(session.issues).toEqual([]);
    expect(session.buildSessionContext().messages.at(-1)).toMatchObject({ content: "mine" });
    expect(session.getEntries().filter((entry) => JSON.stringify(entry).includes('"done"'))).toHaveLength(1);
    expect(session.getEntry(mine)).toBeDefined();
  });

  test("in a store leaves the leaf with a concurrent writer, although another import has read more", async () => {
    const store = memoryStore();
    const into = (kept: SessionStore, records: readonly ClaudeRecord[]) => {
      const [imported] = importAll(records);
      if (imported === undefined) throw new Error("The records hold no session.");
      const target = importTarget({ store: kept, storeName: "memory" });
      return syncSession(target, SESSION_ID, imported.header, imported, () => true);
    };
    await into(store, RECORDS.slice(0, 4));
    const session = await store.open(SESSION_ID);
    session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
    await session.close();
    let isBeside = true;
    const beside = new Proxy(store, {
      get: (target, name) =>
        name === "appendEntries"
          ? async (...given: Parameters<SessionStore["appendEntries"]>) => {
              if (isBeside) await into(store, RECORDS);
              isBeside = false;
              await store.appendEntries(...given);
            }
          : Reflect.get(target, name).bind?.(target),
    });
    await into(beside, RECORDS.slice(0, 5));
    const after = await store.open(SESSION_ID);
    expect(after.buildSessionContext().messages.at(-1)).toMatchObject({ content: "mine" });
    await store.close();
  });

  test("treats one in a store as deleted if it is deleted then", async () => {
    const places = new Places();
    const store = memoryStore();
    put(places, 4);
    await places.import({ store, storeName: "memory" });
    put(places);
    const skipped: unknown[] = [];
    const beside = new Proxy(store, {
      get: (target, name) =>
        name === "appendEntries"
          ? async (id: string, entries: Parameters<typeof store.appendEntries>[1]) => {
              markDeletedImport(ORIGIN);
              await store.delete(id);
              await store.appendEntries(id, entries);
            }
          : Reflect.get(target, name).bind?.(target),
    });
    const onSkipped = (...told: unknown[]) => skipped.push(told);
    expect(await places.import({ store: beside, storeName: "memory", onSkipped })).toMatchObject([
      { status: "deleted" },
    ]);
    expect(skipped).toEqual([]);
    await store.close();
  });
});

test("does not import a session again if only its hidden file exists", async () => {
  const places = new Places();
  put(places, 4);
  const [one] = await places.import();
  const path = one?.path ?? "";
  await redact(path);
  await say(path);
  // State of the folder after a process was killed between two renames.
  renameSync(path, join(dirname(path), `.${basename(path)}.old`));
  put(places);
  forget(places);
  expect(await places.import()).toMatchObject([{ status: "grown", path }]);
  expect([...places.files().keys()]).toEqual([basename(path)]);
  expect(readFileSync(path, "utf8")).not.toContain(SECRET);
  expect(readFileSync(path, "utf8")).toContain("mine");
});

test("keeps a session deleted that was explicitly imported and then deleted concurrently", async () => {
  const places = new Places();
  put(places);
  const [one] = await places.import();
  const path = one?.path ?? "";
  await deleteSession(path, { permanent: true });
  // The deleting process finds its mark.
  beforeCall(
    "unlinkSync",
    (file) => String(file).includes("deleted-imports"),
    () => rmSync(path, { force: true }),
  );
  await places.import({ again: true });
  expect(existsSync(path) || isDeletedImport(ORIGIN)).toBe(true);
});

test("keeps no prompts of a lost session that was deleted after they were found", async () => {
  const places = new Places();
  const prompt = { display: "hello", timestamp: 1, project: "/code/project", sessionId: SESSION_ID };
  places.put(".claude/history.jsonl", joinLines([prompt]));
  const store = fileStore({ sessionDir: places.sessions });
  const options = { store, env: { HOME: places.home }, cacheDir: places.cacheDir };
  const [lost] = await findLost(options);
  markDeletedImport(ORIGIN);
  expect(lost && (await keepLost(lost, options))).toBeNull();
  expect(existsSync(places.sessions)).toBe(false);
});

describe("the cache of imports", () => {
  const facts = (title: string) => [{ source: "claude-code", sessionId: title } as const];
  const file = (path: string) => ({ path, size: 1, mtimeMs: 1, ctimeMs: 1 });

  test("keeps what concurrent imports have found", async () => {
    const folder = temporaryFolder();
    const [one, other] = [new ImportCache("there", folder), new ImportCache("there", folder)];
    one.putFacts(file("/a"), facts("a"));
    other.putFacts(file("/b"), facts("b"));
    await one.save();
    await other.save();
    const after = new ImportCache("there", folder);
    expect([after.getFacts(file("/a")), after.getFacts(file("/b"))]).toEqual([facts("a"), facts("b")]);
  });

  test("does not restore what a redaction has removed from it", async () => {
    const folder = temporaryFolder();
    const before = new ImportCache("there", folder);
    before.putFacts(file("/a"), facts(SECRET));
    await before.save();
    const watching = new ImportCache("there", folder);
    rmSync(folder, { recursive: true });
    for (const cache of [before, watching]) {
      cache.putFacts(file("/b"), facts("b"));
      await cache.save();
    }
    const after = new ImportCache("there", folder);
    expect([after.getFacts(file("/a")), after.getFacts(file("/b"))]).toEqual([undefined, facts("b")]);
  });
});

test("does not report a source that its program removes after it was found", async () => {
  const places = new Places();
  put(places);
  const path = join(places.home, CLAUDE_PATH);
  beforeCall(
    "openSync",
    (file) => file === path,
    () => rmSync(path),
  );
  const skipped: string[] = [];
  expect(await places.import({ onSkipped: (file) => skipped.push(file) })).toEqual([]);
  expect(skipped).toEqual([]);
});
