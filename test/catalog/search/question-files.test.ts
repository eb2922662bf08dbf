import { execFile } from "node:child_process";
import fs, {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { CatalogCache } from "../../../src/catalog/list/catalog-cache.ts";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { TermTable } from "../../../src/catalog/query/term-table.ts";
import { readWords } from "../../../src/catalog/query/words.ts";
import { redactEverywhere } from "../../../src/catalog/redaction/redact-text.ts";
import { type SearchOptions, searchSessions } from "../../../src/catalog/search/search.ts";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { FILTERS, TERM_TABLES } from "../../../src/session/files/cache-files.ts";
import { readCached, writeCachedNow } from "../../../src/session/files/folder-cache.ts";
import { forgetReplaced } from "../../../src/session/files/forget-session.ts";
import { listSessionFiles } from "../../../src/session/files/session-files.ts";
import type { SkippedFile } from "../../../src/session/files/skipped-files.ts";
import { callIfPresent } from "../../../src/session/fs/file-system.ts";
import { mergeSessions } from "../../../src/session/manager/merge-files.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { openedFiles, overwrite } from "../../support/opened-files.ts";
import { IS_WINE } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, joinLines, put } from "../support/sessions.ts";

/** Size in bytes at which a session's words are cached. */
const PADDING = { customType: "padding", data: " ".repeat(1_100_000) };

/** Creates two sessions, questions about them, and a cache; the first session is read first. */
function scene() {
  const sessionDir = temporaryFolder();
  const cacheDir = join(temporaryFolder(), "cache");
  const write = (id: string, ...texts: string[]) => {
    const chain = new Chain(header({ id }));
    for (const text of texts) chain.user(text);
    return put(join(sessionDir, `${id}.jsonl`), chain.add("custom", PADDING).text, -id.charCodeAt(0));
  };
  const [a, b] = [write("a", "the zebrafish", "a lock"), write("b", "nothing", "the server")];
  const skipped: SkippedFile[] = [];
  const ask = async (question: string, options: SearchOptions = {}) => {
    const onSkipped = (one: SkippedFile) => skipped.push(one);
    const asked = { sessionDir, cacheDir, match: "any" as const, onSkipped, ...options };
    const hits = await all(searchSessions(question, asked));
    return hits.map(({ session, entryId }) => `${session.id}${Number.parseInt(entryId, 16)}`);
  };
  const files = () => listNames(cacheDir).filter((name) => name.endsWith(".terms"));
  const path = () => join(cacheDir, files()[0] ?? "none");
  const known = () => readCached(path(), TERM_TABLES)?.files ?? new Map<string, never>();
  return { sessionDir, cacheDir, a, b, write, ask, files, path, known, skipped };
}

function listNames(folder: string): string[] {
  return callIfPresent(() => readdirSync(folder, { recursive: true, encoding: "utf8" })) ?? [];
}

const getHash = (word: string) => {
  let found = 0;
  readWords(word, (hash) => {
    found = hash;
  });
  return found;
};

/** Returns the names of the files whose cached tables have a word. */
function holders(known: ReadonlyMap<string, { known: Uint8Array }>, word: string): string[] {
  return [...known].flatMap(([name, { known: bytes }]) => {
    let count = 0;
    new TermTable(bytes).findWord(getHash(word), () => count++);
    return count > 0 ? [name] : [];
  });
}

describe("a repeated question", () => {
  test("finds the same, and opens only files with a hit", async () => {
    const { a, b, ask, files } = scene();
    expect(await ask("zebrafishes")).toEqual(["a1"]);
    expect(files()).toHaveLength(1);
    const opened = openedFiles();
    expect(await ask("zebrafishes")).toEqual(["a1"]);
    expect([opened.filter((path) => path === a).length, opened.includes(b)]).toEqual([1, false]);
    opened.length = 0;
    expect(await ask("unheard of")).toEqual([]);
    expect(await ask("lock", { since: new Date(), roles: ["user"] })).toEqual([]);
    expect(opened.filter((path) => path === a || path === b)).toEqual([]);
    expect(await ask("the server lock")).toEqual(await ask("the server lock", { cache: false }));
  });

  test("finds what was appended, replaced, rewritten in place, renamed, or removed", async () => {
    const { sessionDir, b, write, ask } = scene();
    expect(await ask("zebrafish")).toEqual(["a1"]);
    appendFileSync(b, `${new Chain(header(), 9).user("a zebrafish").text.split("\n")[1]}\n`);
    expect((await ask("zebrafish")).sort()).toEqual(["a1", "b9"]);
    write("a", "gone");
    expect(await ask("zebrafish")).toEqual(["b9"]);
    overwrite(b, "zebrafish", "zebracats");
    expect(await ask("zebrafish")).toEqual([]);
    expect(await ask("zebracat")).toEqual(["b9"]);
    renameSync(b, join(sessionDir, "c.jsonl"));
    expect(await ask("zebracat")).toEqual(["b9"]);
    rmSync(join(sessionDir, "c.jsonl"));
    expect(await ask("zebracat gone")).toEqual(["a1"]);
  });

  test("caches nothing if the cache is off", async () => {
    const { cacheDir, ask } = scene();
    mkdirSync(cacheDir);
    expect(await ask("zebrafish", { cache: false })).toEqual(["a1"]);
    expect(listNames(cacheDir)).toEqual([]);
  });

  test("finds by the day what it found before a filter was cached", async () => {
    const { sessionDir, cacheDir, ask } = scene();
    // The time as a number, which is not a date's spelling.
    const call = { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls" } };
    const { records } = new Chain(header({ id: "d" }))
      .message({ role: "assistant", content: [call] })
      .add("custom", PADDING);
    const numbered = records.map((one) => ({ ...one, timestamp: Date.parse(String(one["timestamp"])) }));
    put(
      join(sessionDir, "d.jsonl"),
      joinLines([{ ...numbered[0], timestamp: undefined }, ...numbered.slice(1)]),
    );
    const find = () =>
      Promise.all(["in January", "2026", "on 2 Jan"].map((day) => ask(day, { tools: ["bash"] })));
    expect(await find()).toEqual([["d1"], ["d1"], ["d1"]]);
    // Reads all bytes, and caches filters.
    await all(searchSessions("absent", { sessionDir, cacheDir }));
    expect(listNames(cacheDir).some((name) => name.endsWith(".grams"))).toBe(true);
    expect(await find()).toEqual([["d1"], ["d1"], ["d1"]]);
  });
});

describe("cached tables", () => {
  test("contain no text", async () => {
    const { ask, path } = scene();
    await ask("lock");
    const text = readFileSync(path()).toString("latin1");
    for (const word of ["zebra", "lock", "server", "nothing"]) expect(text).not.toContain(word);
  });

  test("that are damaged, truncated, or of another folder cost only time", async () => {
    const { ask, path, known, sessionDir } = scene();
    const expected = await ask("the zebrafish lock");
    const bytes = readFileSync(path());
    for (const at of [0, 10, 75, 100, 200, bytes.length - 300, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = ~(damaged[at] ?? 0);
      for (const content of [damaged, bytes.subarray(0, at), Buffer.concat([bytes, bytes.subarray(at)])]) {
        writeFileSync(path(), content);
        expect(await ask("the zebrafish lock")).toEqual(expected);
        expect([...known().keys()].sort()).toEqual(["a.jsonl", "b.jsonl"]);
      }
    }
    writeCachedNow(path(), { folder: join(sessionDir, "other"), files: known() }, TERM_TABLES);
    expect(await ask("the zebrafish lock")).toEqual(expected);
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["empty", () => new Uint8Array()],
    ["zeros", (bytes) => new Uint8Array(bytes.length)],
    ["ones", (bytes) => new Uint8Array(bytes.length).fill(255)],
    ["a half", (bytes) => bytes.slice(0, bytes.length / 2)],
    ["a filter", () => new Uint8Array(256).fill(0x55)],
  ])("that are not ours, such as %s, are rewritten", async (_, change) => {
    const { ask, path, known, sessionDir } = scene();
    const expected = await ask("the zebrafish lock");
    const before = [...known()];
    const files = new Map(before.map(([name, mark]) => [name, { ...mark, known: change(mark.known) }]));
    writeCachedNow(path(), { folder: sessionDir, files }, TERM_TABLES);
    expect(await ask("the zebrafish lock")).toEqual(expected);
    expect([...known()]).toEqual(before);
  });

  test("under the name of others cost only time", async () => {
    const { ask, path, cacheDir, sessionDir } = scene();
    const expected = await ask("the zebrafish lock");
    await all(searchSessions("absent", { sessionDir, cacheDir }));
    const filters = path().replace(/\.terms$/, ".grams");
    copyFileSync(filters, path());
    expect(await ask("the zebrafish lock")).toEqual(expected);
    copyFileSync(path(), filters);
    expect(readCached(filters, FILTERS)).toBeDefined();
    await all(searchSessions("zebrafish", { sessionDir, cacheDir }));
  });

  test.skipIf(process.getuid?.() === 0 || IS_WINE)(
    "in a folder that cannot be written cost only time",
    async () => {
      const { ask, cacheDir, files } = scene();
      const errors: unknown[] = [];
      const onCacheError = (error: unknown) => errors.push(error);
      mkdirSync(cacheDir, { mode: 0o500 });
      expect(await ask("zebrafish", { onCacheError })).toEqual(["a1"]);
      expect(errors).not.toEqual([]);
      expect(files()).toEqual([]);
      chmodSync(cacheDir, 0o700);
    },
  );

  test("in a folder that is a file cost only time", async () => {
    const { ask, cacheDir } = scene();
    put(cacheDir, "");
    const errors: unknown[] = [];
    expect(await ask("zebrafish", { onCacheError: (error) => errors.push(error) })).toEqual(["a1"]);
    expect(errors).not.toEqual([]);
  });

  test("stay within a size limit for each folder", async () => {
    const { sessionDir, cacheDir } = scene();
    const cache = new CatalogCache({ cacheDir });
    const table = new Uint8Array(64 * 1024 * 1024);
    const mark = { size: 1, mtimeMs: 1, ctimeMs: 1, ino: 1, birthtimeMs: 1 };
    const kept = Array.from({ length: 6 }, (_, i) => {
      const file = { ...mark, folder: sessionDir, name: `${i}.jsonl`, path: join(sessionDir, `${i}.jsonl`) };
      cache.putTable(file, mark, table);
      return cache.getTable(file, mark) !== undefined;
    });
    expect(kept).toEqual([true, true, true, true, false, false]);
  });

  test("are of whole sessions, whatever the question filters", async () => {
    const { ask, known } = scene();
    await ask("zebrafish", { roles: ["assistant"], limit: 1, until: new Date(0), branch: "active" });
    expect(holders(known(), "zebrafish")).toEqual(["a.jsonl"]);
    expect(holders(known(), "server")).toEqual(["b.jsonl"]);
    const { ask: askOther, files } = scene();
    await askOther('"the zebrafish"');
    await askOther("zebrafish", { tools: ["bash"] });
    await askOther("zebrafish", { failed: true });
    expect(files()).toEqual([]);
  });
});

/** Makes the reads of a file fail from the given one on, or reach its end; returns whether one did. */
function failReads(path: string, from: number, isEnd: boolean): () => boolean {
  const { openSync, readSync, closeSync } = fs;
  const fds = new Set<number>();
  let count = 0;
  const restore = () => {
    Object.assign(fs, { openSync, readSync, closeSync });
    syncBuiltinESMExports();
  };
  Object.assign(fs, {
    openSync: (...given: Parameters<typeof openSync>) => {
      const fd = openSync(...given);
      if (given[0] === path) fds.add(fd);
      return fd;
    },
    closeSync: (fd: number) => {
      fds.delete(fd);
      closeSync(fd);
    },
    readSync: (...given: [number, Uint8Array, number, number, number]) => {
      if (fds.has(given[0]) && ++count >= from) {
        if (isEnd) return 0;
        throw Object.assign(new Error("EIO: broken"), { code: "EIO" });
      }
      return readSync(...given);
    },
  });
  syncBuiltinESMExports();
  onTestFinished(restore);
  return () => {
    restore();
    return count >= from;
  };
}

test.each([
  ["cannot be read to its end", false],
  ["is shorter than it was", true],
])("leave a file that %s out of the next table", async (_, isEnd) => {
  const { a, cacheDir, ask, known, skipped } = scene();
  mkdirSync(cacheDir);
  const chain = new Chain(header({ id: "a" }));
  for (let i = 0; i < 150; i++) chain.user(`the zebrafish ${i}`);
  // Out of order, so that it is read into a tree.
  put(a, `${chain.text}{broken\n`, -1);
  const expected = Array.from({ length: 150 }, (_, i) => `a${i + 1}`);
  for (let from = 1, isFailed = true; isFailed; from++) {
    rmSync(cacheDir, { recursive: true, force: true });
    skipped.length = 0;
    const hasFailed = failReads(a, from, isEnd);
    const found = await ask("zebrafish server");
    isFailed = hasFailed();
    expect(found.filter((hit) => !expected.includes(hit))).toEqual(["b2"]);
    const reported = new Set(skipped.map(({ path, reason }) => `${path} ${reason}`));
    // A file without readable bytes is not a session.
    if (!isEnd) expect([...reported]).toEqual(isFailed ? [`${a} unreadable`] : []);
    expect([...reported].filter((one) => !one.startsWith(a))).toEqual([]);
    expect(holders(known(), "zebrafish")).toEqual(known().has("a.jsonl") ? ["a.jsonl"] : []);
    if (isFailed) continue;
    expect(found).toHaveLength(151);
    expect(from).toBeGreaterThan(4);
  }
});

async function redactText(path: string): Promise<void> {
  const session = SessionManager.open(path);
  await session.redactText(/zebrafish/);
  await session.close();
}

function redactEntry(path: string): Promise<void> {
  const session = SessionManager.open(path);
  session.redactEntry(Chain.id(1));
  return session.close();
}

describe("no table keeps a removed word", () => {
  test.each<[string, (path: string) => unknown]>([
    ["an entry is redacted", redactEntry],
    ["a text is redacted", redactText],
    ["a text is redacted everywhere", (path) => redactEverywhere("zebrafish", { sessionDir: dirname(path) })],
    ["the session is removed", (path) => deleteSession(path, { permanent: true })],
    [
      "a redacted copy is merged",
      async (path) => {
        const copy = join(temporaryFolder(), "copy.jsonl");
        copyFileSync(path, copy);
        await redactText(copy);
        mergeSessions(path, copy, { inPlace: true });
      },
    ],
    [
      "the file is replaced",
      (path) => {
        put(`${path}.new`, "gone");
        renameSync(`${path}.new`, path);
        forgetReplaced();
      },
    ],
  ])("when %s", async (_, change) => {
    const { a, ask, known, files, cacheDir } = scene();
    await ask("zebrafish");
    expect(holders(known(), "zebrafish")).toEqual(["a.jsonl"]);
    put(join(cacheDir, `${files()[0]}.123456`), "", 0);
    await change(a);
    expect(listNames(cacheDir).filter((name) => name.includes(".terms."))).toEqual([]);
    expect(holders(known(), "zebrafish")).toEqual([]);
    expect(holders(known(), "server")).toEqual(["b.jsonl"]);
    expect(await ask("zebrafish")).toEqual([]);
    expect(holders(known(), "zebrafish")).toEqual([]);
  });

  test("when a session is redacted while its words are saved", async () => {
    const { a, ask, cacheDir, files, known } = scene();
    await ask("zebrafish");
    const { known: table = new Uint8Array() } = known().get("a.jsonl") ?? {};
    rmSync(cacheDir, { recursive: true });
    const cache = new CatalogCache({ cacheDir, onCacheError: () => undefined });
    const all = [...listSessionFiles(dirname(a), () => undefined)].filter(({ path }) => path === a);
    for (const file of all) cache.putTable(file, file, table);
    // All checks before the file is written have finished.
    const saved = cache.save([], all);
    await redactEntry(a);
    await saved;
    expect(files()).toEqual([]);
  });
});

test("two concurrent questions find the same, and leave a readable table", async () => {
  const { sessionDir, cacheDir, ask, known } = scene();
  const entry = new URL("../../../src/catalog/search/search.ts", import.meta.url).href;
  const options = { sessionDir, cacheDir, match: "any" };
  const script = `import { searchSessions } from ${JSON.stringify(entry)};
    for (let i = 0; i < 3; i++) {
      const ids = [];
      for await (const { session } of searchSessions("the lock", ${JSON.stringify(options)})) ids.push(session.id);
      console.log(ids.join());
    }`;
  const file = put(join(temporaryFolder(), "ask.mts"), script);
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  const run = () => promisify(execFile)(process.execPath, ["--import", "tsx", file], { cwd });
  const outputs = await Promise.all([run(), run(), ask("the lock")]);
  expect(outputs[0].stdout).toBe("a\na\na\n");
  expect(outputs[1].stdout).toBe("a\na\na\n");
  expect(outputs[2]).toEqual(["a2"]);
  expect(holders(known(), "lock")).toEqual(["a.jsonl"]);
});

test("a question changes no search for words", async () => {
  const { sessionDir, cacheDir, ask } = scene();
  const search = (options: SearchOptions) =>
    all(searchSessions("the zebrafish", { sessionDir, cacheDir, ...options }));
  const before = await search({ ranked: true });
  await ask("zebrafish lock");
  expect(await search({ ranked: true })).toEqual(before);
  expect(await search({ ranked: true, match: "all" })).toEqual(before);
  expect(before[0]).not.toHaveProperty("missing");
  expect(await listSessions({ sessionDir, cacheDir })).toHaveLength(2);
});
