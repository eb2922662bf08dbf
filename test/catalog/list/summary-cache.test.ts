import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { iterateSessions, listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { getCacheFolder } from "../../../src/session/files/user-folders.ts";
import { readAtomicJson, writeAtomicJson } from "../../../src/session/fs/atomic-json.ts";
import { openedFiles, overwrite } from "../../support/opened-files.ts";
import { IS_WINDOWS, IS_WINE } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Chain, header, joinLines, put, START_MS } from "../support/sessions.ts";

/** Creates one session in a folder, and a cache. */
function place(chain = new Chain().user("first").assistant("second")) {
  const [sessionDir, cacheDir] = [temporaryFolder(), temporaryFolder()];
  const path = put(join(sessionDir, "a.jsonl"), chain.text, 0);
  const list = () => listSessions({ sessionDir, cacheDir });
  const [cacheFile] = [() => join(cacheDir, readdirSync(cacheDir)[0] ?? "none")];
  return { sessionDir, cacheDir, path, chain, list, cacheFile };
}

/** Lists without a cache. */
const fresh = (sessionDir: string) => listSessions({ sessionDir, cache: false });

describe("a cached row", () => {
  test("is used while the file is unchanged, without reading it", async () => {
    const { path, list } = place();
    const before = await list();
    const opened = openedFiles();
    expect(await list()).toEqual(before);
    expect(opened).not.toContain(path);
    utimesSync(path, START_MS / 1000 + 1, START_MS / 1000 + 1);
    expect(await list()).toEqual(before);
    expect(opened).toContain(path);
  });

  test("is replaced if the file is rewritten in place with the same size and a restored modification time", async () => {
    const { path, list, cacheFile } = place(new Chain().name("tulips").user("first").assistant("second"));
    await list();
    overwrite(path, "tulips", "______");
    overwrite(path, "first", "_____");
    expect(await list()).toMatchObject([{ name: "______", firstMessage: "_____" }]);
    expect(readFileSync(cacheFile(), "latin1")).not.toMatch(/tulips|first(?!M)/);
  });

  test.skipIf(IS_WINDOWS)(
    "is rewritten if a pipe is in place of the cache, without waiting for the pipe",
    async () => {
      const { list, cacheFile } = place();
      const before = await list();
      const file = cacheFile();
      rmSync(file);
      execFileSync("mkfifo", [file]);
      expect(await list()).toEqual(before);
      expect(statSync(file).isFile()).toBe(true);
    },
  );

  test("is not used for another file of the same size and time", async () => {
    const { path, chain, list, sessionDir } = place();
    await list();
    renameSync(put(join(sessionDir, "other"), chain.text.replace("first", "other"), 0), path);
    expect(await list()).toMatchObject([{ firstMessage: "other" }]);
  });

  test("equals a row of a list without a cache", async () => {
    const { list, sessionDir } = place(
      new Chain(header({ parentSession: "/p", version: 2 })).name("n").user("é\u2028"),
    );
    put(join(sessionDir, "torn.jsonl"), new Chain().user("a").user("b").text.slice(0, -9), 1);
    put(join(sessionDir, "none.jsonl"), "none\n", 2);
    put(join(sessionDir, "empty.jsonl"), joinLines([{ type: "session", id: "empty" }]), 3);
    await list();
    expect(await list()).toEqual(await fresh(sessionDir));
    expect(await list()).toHaveLength(3);
  });

  test("also records that a file is not a session", async () => {
    const { sessionDir, cacheDir, path } = place();
    writeFileSync(path, "none\n");
    utimesSync(path, 1, 1);
    const skipped: unknown[] = [];
    const list = () => listSessions({ sessionDir, cacheDir, onSkipped: (one) => skipped.push(one) });
    expect([await list(), await list()]).toEqual([[], []]);
    expect(skipped).toEqual(Array(2).fill({ path, reason: "not-a-session" }));
  });
});

describe("a file that grew", () => {
  test.skipIf(IS_WINE)("is read from the first new byte only", async () => {
    const { path, chain, list } = place();
    await list();
    overwrite(path, "first", "FIRST");
    const before = chain.text.length;
    chain.user("third", { timestamp: START_MS + 90_000 }).name("named");
    appendFileSync(path, chain.text.slice(before));
    expect(await list()).toMatchObject([
      { firstMessage: "first", messageCount: 3, name: "named", modified: new Date(START_MS + 90_000) },
    ]);
    overwrite(path, "third", "xxxxx");
    chain.assistant("fourth");
    appendFileSync(path, joinLines([chain.records.at(-1)]));
    expect(await list()).toMatchObject([{ messageCount: 4, name: "named" }]);
  });

  test.each([
    [
      "whose end is not the known one",
      (path: string) => overwrite(path, '"stopReason":"stop"', '"stopReason":"STOP"'),
    ],
    [
      "where an entry follows an older one",
      (_: string, chain: Chain) => chain.add("custom", {}, { parentId: null }),
    ],
    [
      "where a line is repeated",
      (path: string, chain: Chain) => appendFileSync(path, joinLines([chain.records[1]])),
    ],
    ["where a line is damaged", (path: string) => appendFileSync(path, "{{{\n")],
    ["where a header comes again", (path: string) => appendFileSync(path, joinLines([header()]))],
  ])("is read in full %s", async (_, change) => {
    const { path, chain, list, sessionDir } = place();
    await list();
    overwrite(path, "first", "FIRST");
    const before = chain.text.length;
    change(path, chain);
    chain.user("last");
    appendFileSync(path, chain.text.slice(before));
    expect(await list()).toMatchObject([{ firstMessage: "FIRST" }]);
    expect(await list()).toEqual(await fresh(sessionDir));
  });

  test("has a torn line read as a whole", async () => {
    const { path, chain, list, sessionDir } = place();
    writeFileSync(path, chain.text.slice(0, -20));
    await list();
    appendFileSync(path, chain.text.slice(-20));
    expect(await list()).toEqual(await fresh(sessionDir));
    expect(await list()).toMatchObject([{ messageCount: 2 }]);
  });

  test("has the last line read as a whole if a record was glued to it", async () => {
    const { path, chain, list, sessionDir } = place();
    writeFileSync(path, chain.text.slice(0, -1));
    await list();
    appendFileSync(path, joinLines([chain.user("third").records.at(-1)]));
    expect(await list()).toEqual(await fresh(sessionDir));
    expect(await list()).toMatchObject([{ messageCount: 3, issueCount: 1 }]);
  });

  test("is read in full if another file with the same end replaced it", async () => {
    const { path, chain, list, sessionDir } = place();
    await list();
    const other = chain.text.replace("first", "other") + joinLines([chain.user("third").records.at(-1)]);
    renameSync(put(join(sessionDir, "other"), other), path);
    expect(await list()).toMatchObject([{ firstMessage: "other", messageCount: 3 }]);
  });

  test("is read in full if an entry is before the one that it follows, and is repeated", async () => {
    const { path, chain, list, sessionDir } = place();
    const [head, first, second] = chain.user("third").records;
    const third = chain.records[3];
    for (const start of [[head], [head, head]]) {
      writeFileSync(path, joinLines([...start, third, first, second]));
      await list();
      appendFileSync(path, joinLines([third]));
      expect(await list()).toEqual(await fresh(sessionDir));
      expect(await list()).toMatchObject([{ messageCount: 3 }]);
    }
  });

  test("is read in full if it has an old version, which other writers rewrite", async () => {
    const { path, list, sessionDir } = place(new Chain(header({ version: 2 })).user("first"));
    await list();
    writeFileSync(path, new Chain(header()).user("other").assistant("more").text);
    expect(await list()).toEqual(await fresh(sessionDir));
    expect(await list()).toMatchObject([{ firstMessage: "other", messageCount: 2 }]);
  });
});

describe("the file of a cache", () => {
  test.skipIf(IS_WINDOWS)("is private to its owner, in a separate folder", async () => {
    const { list, cacheDir, cacheFile } = place();
    rmSync(cacheDir, { recursive: true });
    await list();
    expect(statSync(cacheDir).mode & 0o777).toBe(0o700);
    expect(statSync(cacheFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(cacheDir)).toHaveLength(1);
  });

  test("is unchanged if no session changed", async () => {
    const { list, cacheFile } = place();
    await list();
    const { ino, mtimeMs } = statSync(cacheFile());
    await list();
    expect(statSync(cacheFile())).toMatchObject({ ino, mtimeMs });
  });

  test("drops files that no longer exist", async () => {
    const { list, path, cacheFile } = place();
    await list();
    rmSync(path);
    expect(await list()).toEqual([]);
    expect(readFileSync(cacheFile(), "utf8")).not.toContain("a.jsonl");
  });

  test.each([
    ["missing", (path: string) => rmSync(path)],
    ["empty", (path: string) => writeFileSync(path, "")],
    ["cut", (path: string) => writeFileSync(path, readFileSync(path).subarray(0, -30))],
    ["no JSON", (path: string) => writeFileSync(path, "not JSON at all".repeat(20))],
    [
      "changed in one digit",
      (path: string) => {
        const content = readFileSync(path, "utf8");
        const changed = content.replace('"messageCount":[2', '"messageCount":[3');
        expect(changed).not.toBe(content);
        writeFileSync(path, changed);
      },
    ],
    ["of another version", (path: string) => rewrite(path, { version: 999 })],
    ["of another folder", (path: string) => rewrite(path, { folder: "/elsewhere" })],
    ["of another shape", (path: string) => rewrite(path, { files: { name: ["a.jsonl"] } })],
  ])("is rewritten if it is %s", async (_, damage) => {
    const { list, cacheFile, sessionDir } = place();
    await list();
    const content = readFileSync(cacheFile(), "utf8");
    await damage(cacheFile());
    expect(await list()).toEqual(await fresh(sessionDir));
    expect(readFileSync(cacheFile(), "utf8")).toBe(content);
  });

  test("can be replaced by many processes at once", async () => {
    const { list, sessionDir } = place();
    for (let i = 0; i < 50; i++)
      put(join(sessionDir, `${i}.jsonl`), new Chain(header({ id: `${i}` })).user("x").text, i);
    const lists = await Promise.all(Array.from({ length: 8 }, list));
    const expected = await fresh(sessionDir);
    for (const one of [...lists, await list()]) expect(one).toEqual(expected);
  });

  test("is written even when an iteration stops early, with the known rows of the others", async () => {
    const { list, sessionDir, cacheDir } = place();
    await list();
    put(join(sessionDir, "b.jsonl"), new Chain(header({ id: "b" })).user("b").text, 10);
    for await (const one of iterateSessions({ sessionDir, cacheDir })) {
      expect(one.id).toBe("b");
      break;
    }
    const opened = openedFiles();
    expect((await list()).map((one) => one.firstMessage).sort()).toEqual(["b", "first"]);
    expect(opened.filter((one) => one.startsWith(sessionDir))).toEqual([]);
  });

  test("does not exist with `cache: false`", async () => {
    const { sessionDir, cacheDir } = place();
    await listSessions({ sessionDir, cacheDir, cache: false });
    expect(readdirSync(cacheDir)).toEqual([]);
  });

  test("is reported if it cannot be written, and the list is complete", async () => {
    const { sessionDir, path } = place();
    const errors: unknown[] = [];
    const cacheDir = join(path, "below-a-file");
    const listed = await listSessions({ sessionDir, cacheDir, onCacheError: (error) => errors.push(error) });
    expect(listed).toHaveLength(1);
    expect(errors).toMatchObject([{ code: "ENOTDIR" }]);
  });

  test.skipIf(IS_WINDOWS)("is reported if it cannot be read, and the list is complete", async () => {
    const { sessionDir, cacheDir, list, cacheFile } = place();
    await list();
    const file = cacheFile();
    rmSync(file);
    put(join(file, "in-the-way"), "");
    const errors: unknown[] = [];
    const listed = await listSessions({ sessionDir, cacheDir, onCacheError: (error) => errors.push(error) });
    expect(listed).toHaveLength(1);
    expect(errors).toMatchObject([{ code: "EISDIR" }, { code: "EISDIR" }]);
  });
});

async function rewrite(path: string, changes: object): Promise<void> {
  const kept = readAtomicJson(path);
  expect(kept?.value).toHaveProperty("version");
  expect(kept?.text).not.toBe("");
  await writeAtomicJson(path, Object.assign({}, kept?.value, changes), { text: kept?.text ?? "" });
}

// The paths are of another system.
describe.skipIf(IS_WINDOWS)("the folder of the cache", () => {
  const folder = (env: { [name: string]: string }, platform: string) =>
    getCacheFolder(env, platform, "/home/me");

  test("is the system's for its user", () => {
    expect(folder({}, "linux")).toBe("/home/me/.cache/sessiontree");
    expect(folder({}, "darwin")).toBe("/home/me/Library/Caches/sessiontree");
    expect(folder({ LOCALAPPDATA: "/local" }, "win32")).toBe("/local/sessiontree/Cache");
    expect(folder({}, "win32")).toBe("/home/me/AppData/Local/sessiontree/Cache");
  });

  test("is the one in the environment variable, if that is absolute", () => {
    expect(folder({ XDG_CACHE_HOME: "/cache" }, "darwin")).toBe("/cache/sessiontree");
    expect(folder({ XDG_CACHE_HOME: "cache" }, "linux")).toBe("/home/me/.cache/sessiontree");
    expect(getCacheFolder({}, "linux")).toBe(join(homedir(), ".cache", "sessiontree"));
  });
});
