import { appendFileSync, closeSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type SearchHit,
  type SearchOptions,
  searchLines,
  searchSession,
  searchSessions,
} from "../../../src/catalog/search/search.ts";
import { makeLineSource } from "../../../src/core/jsonl/line-source.ts";
import type { SkippedFile } from "../../../src/session/files/skipped-files.ts";
import { beforeCall } from "../../support/before-call.ts";
import { overwrite } from "../../support/opened-files.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, joinLines, put } from "../support/sessions.ts";

/** Sends a question to one session in each possible way; expects the same answer of all. */
async function ask(
  content: string | Uint8Array,
  question: string,
  options: SearchOptions = {},
): Promise<SearchHit[]> {
  const sessionDir = temporaryFolder();
  const path = put(join(sessionDir, "a.jsonl"), content);
  const asked = { match: "any" as const, ...options };
  const hits = await all(searchSessions(question, { sessionDir, cache: false, ...asked }));
  expect((await all(searchSession(path, question, asked))).map(getId)).toEqual(hits.map(getId));
  const source = makeLineSource(Buffer.from(content));
  expect((await all(searchLines(source, question, asked))).map(getId)).toEqual(hits.map(getId));
  return hits;
}

const getId = ({ entryId }: SearchHit) => entryId;

/** Returns the numbers of the found entries. */
async function found(...given: Parameters<typeof ask>): Promise<number[]> {
  return (await ask(...given)).map(({ entryId }) => Number.parseInt(entryId, 16));
}

const DEPLOY = new Chain()
  .user("How do we deploy to the staging server?")
  .assistant("Deploys run with make release, after the tests.")
  .user("The lock of the release was lost: two servers deployed at once.")
  .user("Unrelated");

describe("a question", () => {
  test("finds entries with any of its words, the most and the rarest first, and the words that each lacks", async () => {
    const hits = await ask(DEPLOY.text, "Why did both servers deploy and lose the zebra lock?");
    expect(hits.map(({ entryId, partial, missing }) => [entryId, partial, missing])).toEqual([
      [Chain.id(3), true, ["both", "lose", "zebra"]],
      [Chain.id(1), true, ["both", "lose", "zebra", "lock"]],
      [Chain.id(2), true, ["both", "servers", "lose", "zebra", "lock"]],
    ]);
    expect(hits[0]?.snippet).toContain("lock of the release");
  });

  test("has no partial hits where nothing is missing", async () => {
    const [hit] = await ask(DEPLOY.text, "the lock?");
    expect(hit).toMatchObject({ entryId: Chain.id(3), branch: "active", role: "user" });
    expect(hit).not.toHaveProperty("partial");
    expect(hit).not.toHaveProperty("missing");
  });

  test.each(["", "  ", "?!", '""', "—"])("%j without words finds nothing", async (question) => {
    expect(await found(DEPLOY.text, question)).toEqual([]);
  });

  test("without words searches for entries that pass filters", async () => {
    const chain = new Chain().message({ role: "bashExecution", command: "make", output: "", exitCode: 2 });
    expect(await found(chain.text, "", { failed: true })).toEqual([1]);
    expect(await found(chain.text, "?", { failed: true })).toEqual([]);
  });

  test("of stop words finds entries that contain them", async () => {
    expect(await found(DEPLOY.text, "how do we")).toEqual([1]);
    expect(await found(DEPLOY.text, "the lock of")).toEqual([3]);
  });

  test("of 10 kB and more is answered", async () => {
    const long = Array.from({ length: 1_500 }, (_, i) => `word${i}`).join(" ");
    expect(long.length).toBeGreaterThan(10_000);
    const [hit, ...more] = await ask(DEPLOY.text, `lock ${long}`);
    expect(more).toEqual([]);
    expect(hit).toMatchObject({ entryId: Chain.id(3), match: { length: 4 } });
    expect(hit?.missing).toHaveLength(499);
    expect(await found(DEPLOY.text, "lock ".repeat(20_000))).toEqual([3]);
  });

  test("of more than 100,000 characters is refused", () => {
    const refuse = (search: () => unknown) =>
      expect(search).toThrow(
        expect.objectContaining({ code: "INVALID_QUERY", message: expect.stringMatching(/shorten/) }),
      );
    const long = "x".repeat(100_001);
    refuse(() => searchSessions(long, { match: "any" }));
    refuse(() => searchSession("/none", long, { match: "any" }));
    refuse(() => searchLines(makeLineSource(new Uint8Array()), long, { match: "any" }));
  });

  test.each([
    ["日本語のロック", "スレッドのロックが外れた", true],
    ["ภาษาไทย", "เขียนภาษาไทยได้", true],
    ["한국어", "그는 한국어 사용", true],
    ["مرحبا", "قال مرحبا", true],
    ["🙂", "ok 🙂", true],
    ["🙂", "ok 🙃", false],
    ["e\u0301t", "un e\u0301t", true],
    ["ÉTÉ", "été", true],
    ["\ud83d", "half \ud83d", true],
    ["\ude42", "🙂", false],
    ["İstanbul", "İSTANBUL", true],
    ["getUserName", "the name", true],
    ["user", "getUserName()", true],
    ["x", "x=1;", true],
  ])("%j is found in %j: %s", async (question, text, isFound) => {
    const hits = await ask(new Chain().user(text).text, question);
    expect(hits).toHaveLength(isFound ? 1 : 0);
    for (const { snippet, match } of hits) {
      // Half a character is never shown.
      expect(match.length).toBeGreaterThan(question === "\ud83d" ? -1 : 0);
      expect(text).toContain(snippet.slice(match.start, match.start + match.length));
    }
  });

  test("finds phrases in quotes verbatim, and treats other quotes as characters", async () => {
    expect(await found(DEPLOY.text, '"make release" lock')).toEqual([2]);
    expect(await found(DEPLOY.text, '"make  release"')).toEqual([2]);
    expect(await found(DEPLOY.text, '"never said" lock')).toEqual([]);
    expect(await found(DEPLOY.text, '"releases" lock')).toEqual([]);
    expect(await found(DEPLOY.text, 'lock"')).toEqual([3]);
    expect(await found(DEPLOY.text, '"lock')).toEqual([3]);
  });

  test("finds entries of a day, without a match", async () => {
    const [hit] = await ask(new Chain().user("nothing new").text, "What happened in January?");
    expect(hit).toMatchObject({ snippet: "nothing new", match: { start: 0, length: 0 } });
  });

  test("accepts no expression, and no case", async () => {
    for (const search of [
      (options: SearchOptions) => searchSessions("x", options),
      (options: SearchOptions) => searchSession("/none", "x", options),
    ]) {
      expect(() => search({ match: "any", regex: true })).toThrow(/"any".*omit regex/);
      expect(() => search({ match: "any", caseSensitive: true })).toThrow(/"any".*omit caseSensitive/);
      expect(() => search({ match: "any", regex: true })).toThrow(TypeError);
    }
    const wrong: object = { match: "some" };
    expect(() => searchSessions("x", wrong)).toThrow(/match must be "all" or "any"/);
  });
});

describe("limits", () => {
  const many = new Chain();
  for (let i = 0; i < 150; i++) many.user(`lock ${i}`);

  test.each([
    [0, 0],
    [-1, 0],
    [0.5, 0],
    [1, 1],
    [1.9, 1],
    [63, 63],
    [64, 64],
    [65, 65],
    [1_000, 150],
    [Number.POSITIVE_INFINITY, 150],
  ])("of %s are applied", async (limit, count) => {
    expect(await ask(many.text, "lock", { limit })).toHaveLength(count);
  });

  test("that are not numbers are refused, and never hang", async () => {
    expect(() => searchSessions("lock", { match: "any", limit: Number.NaN })).toThrow(TypeError);
    const source = makeLineSource(Buffer.from(many.text));
    expect(await all(searchLines(source, "lock", { match: "any", limit: Number.NaN }))).toEqual([]);
  });

  test("return the first hits of all", async () => {
    const hits = await found(many.text, "lock 7 or 90");
    expect(hits).toHaveLength(150);
    for (const limit of [1, 2, 70])
      expect(await found(many.text, "lock 7 or 90", { limit })).toEqual(hits.slice(0, limit));
  });
});

describe("an answer", () => {
  const lines = DEPLOY.text.trimEnd().split("\n");

  test.each([
    ["without a last line break", lines.join("\n")],
    ["with carriage returns", `${lines.join("\r\n")}\r\n`],
    ["with a byte order mark", `\ufeff${DEPLOY.text}`],
    ["with empty lines", `${lines.join("\n\n")}\n\n`],
    ["with a line that is cut", `${DEPLOY.text}{"type":"message","id":"0000`],
    ["with a damaged line", [lines[0], "{broken", ...lines.slice(1)].join("\n")],
    ["with other values", [lines[0], "[]", "1", "null", '"x"', '{"type":1}', ...lines.slice(1)].join("\n")],
    ["with records on one line", `${lines[0]}\n${lines.slice(1).join("")}\n`],
    ["with zeros at its end", `${DEPLOY.text}${"\0".repeat(100)}`],
  ])("comes from a session file %s", async (_, content) => {
    expect(await found(content, "servers deploy lock")).toEqual([3, 1, 2]);
  });

  test("comes from a session file of version 1 or 2", async () => {
    const [head = "", ...rest] = lines;
    const old = (version: number | undefined) =>
      joinLines([{ ...JSON.parse(head), version }, ...rest.map((line) => JSON.parse(line))]);
    for (const version of [2, 1, undefined]) {
      const hits = await ask(old(version), "servers deploy lock");
      expect(hits.map(({ snippet }) => snippet.slice(0, 3))).toEqual(["The", "How", "Dep"]);
    }
  });

  test("comes from a session file with a repeated id", async () => {
    const again = JSON.stringify({
      ...JSON.parse(lines[1] ?? ""),
      message: { role: "user", content: "zebra lock" },
    });
    const hits = await ask(`${DEPLOY.text}${again}\n`, "zebra");
    expect(hits).toHaveLength(1);
    expect(hits[0]?.snippet).toBe("zebra lock");
  });

  test("has a hit in each of two records on a line", async () => {
    const glued = `${lines[0]}\n${lines.slice(1, 3).join("")}\n`;
    expect(await found(glued, "deploy", { roles: ["assistant"] })).toEqual([2]);
    expect((await found(glued, "deploys")).sort()).toEqual([1, 2]);
  });

  test("is not found in an empty file or one that is not a session", async () => {
    const sessionDir = temporaryFolder();
    put(join(sessionDir, "empty.jsonl"), "");
    put(join(sessionDir, "other.jsonl"), '{"lock":1}\n{"lock":2}\n');
    put(join(sessionDir, "text.jsonl"), "the lock\n");
    put(join(sessionDir, "bytes.jsonl"), Uint8Array.from([0xff, 0xfe, 0, 0x0a]));
    put(join(sessionDir, "a.jsonl"), DEPLOY.text);
    const hits = await all(searchSessions("lock", { sessionDir, cache: false, match: "any" }));
    expect(hits.map(getId)).toEqual([Chain.id(3)]);
    await expect(
      all(searchSession(join(sessionDir, "empty.jsonl"), "lock", { match: "any" })),
    ).rejects.toMatchObject({
      code: "NOT_A_SESSION",
    });
  });

  test("comes from an abandoned branch only on request", async () => {
    const chain = new Chain().user("start").user("the lock, left");
    const records = [...chain.records, ...new Chain(header(), 9).user("the lock, active").records.slice(1)];
    const content = joinLines(
      records.map((one) => (one["id"] === Chain.id(9) ? { ...one, parentId: Chain.id(1) } : one)),
    );
    const hits = await ask(content, "lock");
    expect(hits.map(({ entryId, branch }) => [entryId, branch]).sort()).toEqual([
      [Chain.id(2), "left"],
      [Chain.id(9), "active"],
    ]);
    expect(await found(content, "lock", { branch: "active" })).toEqual([9]);
    expect(await found(content, "lock", { branch: "active", limit: 1 })).toEqual([9]);
  });
});

describe("a session that changes", () => {
  /** Creates two sessions with hits; the question's first hit is being read. */
  async function scene() {
    const sessionDir = temporaryFolder();
    const paths = ["a", "b"].map((id, i) =>
      put(
        join(sessionDir, `${id}.jsonl`),
        new Chain(header({ id })).user(`lock ${id}`).user("x").user("a lock").text,
        i,
      ),
    );
    const skipped: SkippedFile[] = [];
    const hits = (options: SearchOptions = {}) =>
      searchSessions("lock", {
        sessionDir,
        cache: false,
        match: "any",
        onSkipped: (one) => skipped.push(one),
        ...options,
      });
    return { sessionDir, paths, hits, skipped };
  }

  /** Acts when the words of both files are known: before the row of a hit is read, or only its text. */
  function afterRanking(paths: readonly string[], isRowRead: boolean, act: () => void): void {
    let opened = 0;
    const last = paths.length + (isRowRead ? 1 : 0);
    beforeCall("openSync", (path) => paths.includes(String(path)) && ++opened > last, act);
  }

  describe.each([
    ["before its row is read", false],
    ["before its text is read", true],
  ])("%s", (_, isRowRead) => {
    test.each<[string, (path: string) => void]>([
      ["and is deleted", (path) => rmSync(path)],
      ["and is no longer a session", (path) => put(path, "gone")],
      ["and is empty", (path) => put(path, "")],
      [
        "and is another session",
        (path) => put(path, new Chain(header({ id: "c" })).user("not the same words").text),
      ],
      ["and is redacted in place", (path) => overwrite(path, "lock", "____")],
    ])("%s, has no hits", async (_name, change) => {
      const { paths, hits } = await scene();
      let changed = 0;
      afterRanking(paths, isRowRead, () => {
        for (const path of paths) change(path);
        changed++;
      });
      expect(await all(hits())).toEqual([]);
      expect(changed).toBe(1);
    });

    test("and grows, has the hits that were ranked", async () => {
      const { paths, hits } = await scene();
      const line = new Chain(header(), 9).user("one more lock").text.split("\n")[1];
      afterRanking(paths, isRowRead, () => {
        for (const path of paths) appendFileSync(path, `${line}\n`);
      });
      expect((await all(hits())).map(getId).sort()).toEqual([1, 1, 3, 3].map((id) => Chain.id(id)));
    });
  });

  test("while hits are read, ends nothing", async () => {
    const { paths, hits, sessionDir } = await scene();
    const taken: string[] = [];
    for await (const { session } of hits()) {
      taken.push(session.id);
      for (const path of paths) rmSync(path, { force: true });
      renameSync(sessionDir, `${sessionDir}-moved`);
      renameSync(`${sessionDir}-moved`, sessionDir);
    }
    expect(taken.length).toBeGreaterThan(0);
  });
});

describe("an aborted question", () => {
  test("ends at every step with ABORTED", async () => {
    const sessionDir = temporaryFolder();
    for (const id of ["a", "b", "c"])
      put(join(sessionDir, `${id}.jsonl`), new Chain(header({ id })).user(`lock ${id}`).text);
    const count = async (step: number) => {
      const controller = new AbortController();
      let looks = 0;
      const { signal } = controller;
      Object.defineProperty(signal, "aborted", { get: () => ++looks >= step });
      const hits = all(searchSessions("lock", { sessionDir, cache: false, match: "any", signal }));
      const outcome = await hits.then(
        (found) => found.length,
        (error: unknown) => Object(error).code,
      );
      return { looks, outcome };
    };
    for (let step = 1; ; step++) {
      const { looks, outcome } = await count(step);
      expect(outcome).toBe(looks < step ? 3 : "ABORTED");
      if (looks >= step) continue;
      expect(step).toBeGreaterThan(5);
      break;
    }
  });

  test("that has not started, or in one session, ends with ABORTED", async () => {
    const path = put(join(temporaryFolder(), "a.jsonl"), DEPLOY.text);
    const signal = AbortSignal.abort();
    const aborted = expect.objectContaining({ code: "ABORTED" });
    await expect(all(searchSessions("lock", { match: "any", sessionDir: path, signal }))).rejects.toEqual(
      aborted,
    );
    await expect(all(searchSession(path, "lock", { match: "any", signal }))).rejects.toEqual(aborted);
  });
});

test("a file of more than 32 MB is read line by line and searched", async () => {
  const sessionDir = temporaryFolder();
  const path = put(join(sessionDir, "a.jsonl"), DEPLOY.text);
  const fd = openSync(path, "r+");
  // A hole in the file, which reads as zeros, and a line after it.
  const size = 33 * 1024 * 1024;
  ftruncateSync(fd, size);
  writeSync(fd, `\n${new Chain(header(), 9).user("the last lock").text.split("\n")[1]}\n`, size);
  closeSync(fd);
  const hits = await all(searchSessions("the last lock", { sessionDir, cache: false, match: "any" }));
  expect(hits.map(({ entryId, missing }) => [entryId, missing])).toEqual([
    [Chain.id(9), undefined],
    [Chain.id(3), ["last"]],
  ]);
});
