import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { type SearchHit, type SearchOptions, searchSessions } from "../../../src/catalog/search/search.ts";
import type { SkippedFile } from "../../../src/session/files/skipped-files.ts";
import { IS_WINE } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, joinLines, put, START_MS } from "../support/sessions.ts";

/** Searches one session. */
function search(
  content: string | Uint8Array,
  query: string,
  options: SearchOptions = {},
): Promise<SearchHit[]> {
  const sessionDir = temporaryFolder();
  put(join(sessionDir, "a.jsonl"), content);
  return all(searchSessions(query, { sessionDir, cache: false, ...options }));
}

/** Returns the ids of the found entries as numbers. */
async function found(...of: Parameters<typeof search>): Promise<number[]> {
  return (await search(...of)).map((hit) => Number.parseInt(hit.entryId, 16));
}

describe("a hit", () => {
  test("names the entry and the session with the text, and its position", async () => {
    const chain = new Chain()
      .user("hello")
      .assistant("The parser is\n  broken, and so on.")
      .user("x")
      .name("n");
    const text = chain.text;
    const [hit, ...more] = await search(text, "parser is");
    expect(more).toEqual([]);
    expect(hit).toMatchObject({
      session: { id: "session-1", name: "n", messageCount: 3 },
      entryId: "00000002",
      role: "assistant",
      snippet: "The parser is broken, and so on.",
      match: { start: 4, length: 9 },
      offset: Buffer.from(text.slice(0, text.indexOf('{"type":"message","id":"00000002"'))).length,
    });
  });

  test("is returned for each entry, in the order of the file", async () => {
    const chain = new Chain().user([
      { type: "text", text: "needle needle" },
      { type: "text", text: "needle" },
    ]);
    chain.assistant("none").assistant("a Needle").user("NEEDLE");
    expect(await found(chain.text, "needle")).toEqual([1, 3, 4]);
    expect(await found(chain.text, "needle", { limit: 2 })).toEqual([1, 3]);
    expect(await found(chain.text, "needle", { limit: 0 })).toEqual([]);
    expect(await found(chain.text, "")).toEqual([]);
  });

  test("shows the surrounding text, cut between characters", async () => {
    const text = `${"🙂".repeat(100)}a needle ${"🙂".repeat(100)}`;
    const [hit] = await search(new Chain().user(text).text, "needle");
    expect(hit?.snippet).toBe(`…${"🙂".repeat(29)}a needle ${"🙂".repeat(29)}…`);
    expect(hit?.snippet.substr(hit.match.start, hit.match.length)).toBe("needle");
  });
});

test("is sorted by the time of the session's file, or with latestFirst in the order of a list", async () => {
  const sessionDir = temporaryFolder();
  const write = (id: string, talkedAt: number, writtenAt: number) => {
    const chain = new Chain(header({ id })).user("needle", { timestamp: START_MS + talkedAt * 1000 });
    put(join(sessionDir, `${id}.jsonl`), chain.text, writtenAt);
  };
  write("old-talk-in-a-new-file", 10, 9000);
  write("new-talk-in-an-old-file", 5000, 0);
  const order = async (options: SearchOptions) =>
    (await all(searchSessions("needle", { sessionDir, cache: false, ...options }))).map(
      (hit) => hit.session.id,
    );
  expect(await order({})).toEqual(["old-talk-in-a-new-file", "new-talk-in-an-old-file"]);
  const listed = (await listSessions({ sessionDir, cache: false })).map(({ id }) => id);
  expect(listed).toEqual(["new-talk-in-an-old-file", "old-talk-in-a-new-file"]);
  expect(await order({ latestFirst: true })).toEqual(listed);
  expect(await order({ latestFirst: true, limit: 1 })).toEqual(listed.slice(0, 1));
});

describe("searched text", () => {
  const chain = new Chain()
    .user("needle in text")
    .message({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "needle in thought", thinkingSignature: "needle" },
        { type: "text", text: "none", textSignature: "needle" },
      ],
      responseId: "needle",
    })
    .message({
      role: "assistant",
      content: [
        { type: "toolCall", id: "needle", name: "write", arguments: { path: ["x", { deep: "needle.ts" }] } },
      ],
    })
    .message({
      role: "toolResult",
      toolName: "needle",
      content: [{ type: "text", text: "needle out" }],
      details: "needle",
    })
    .message({ role: "bashExecution", command: "grep needle", output: "none" })
    .message({ role: "bashExecution", command: "ls", output: "a needle" })
    .message({ role: "custom", customType: "x", content: "needle", display: true })
    .message({ role: "user", content: [{ type: "image", data: "needle", mimeType: "image/png" }] })
    .add("custom_message", { customType: "needle", content: "a needle", display: true })
    .add("compaction", { summary: "needle was sought", firstKeptEntryId: "00000001", tokensBefore: 1 })
    .add("branch_summary", { summary: "needle there", fromId: "root" })
    .add("custom", { customType: "needle", data: "needle" })
    .add("label", { targetId: "00000001", label: "needle" })
    .message({ role: "system", content: "needle rules" })
    .message({ role: "assistant", content: [], errorMessage: "no needle" });

  test("is that of messages and summaries, and nothing that is not displayed", async () => {
    const hits = await search(chain.text, "needle");
    expect(hits.map((hit) => [Number.parseInt(hit.entryId, 16), hit.role])).toEqual([
      [1, "user"],
      [2, "assistant"],
      [3, "assistant"],
      [4, "toolResult"],
      [5, "bashExecution"],
      [6, "bashExecution"],
      [7, "custom"],
      [9, "custom"],
      [10, "compactionSummary"],
      [11, "branchSummary"],
      [14, "system"],
      [15, "assistant"],
    ]);
  });

  test("has one of the roles, if some are given", async () => {
    expect(await found(chain.text, "needle", { roles: ["user"] })).toEqual([1]);
    expect(await found(chain.text, "needle", { roles: ["custom", "branchSummary"] })).toEqual([7, 9, 11]);
    expect(await found(chain.text, "needle", { roles: [] })).toEqual([]);
  });

  test("is separate for each text: words may be in several, a phrase is in one", async () => {
    const content = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    expect(await found(new Chain().user(content).text, "onetwo")).toEqual([]);
    expect(await found(new Chain().user(content).text, '"one two"')).toEqual([]);
    expect(await found(new Chain().user(content).text, "two one")).toEqual([1]);
  });
});

describe("letters", () => {
  const chain = new Chain().user("Straße ÉTÉ привет ΣΊΣΥΦΟΣ K").user("STRASSE été ПРИВЕТ σίσυφος k");

  test("match in either case, unless the search is case-sensitive", async () => {
    for (const query of ["été", "ÉTÉ", "привет", "ПРивеТ", "σίσυφοσ"]) {
      expect([query, await found(chain.text, query)]).toEqual([query, [1, 2]]);
    }
    expect(await found(chain.text, "été", { caseSensitive: true })).toEqual([2]);
    expect(await found(chain.text, "ПРИВЕТ", { caseSensitive: true })).toEqual([2]);
    expect(await found(chain.text, "straße")).toEqual([1]);
  });

  test("match even if their cases differ in length", async () => {
    expect(await found(new Chain().user("xⱥx").user("XȺX").user("none").text, "xȺx")).toEqual([1, 2]);
  });

  test("that are broken are found as their replacement character", async () => {
    const text = Buffer.from(new Chain().user("a#b").text);
    text[text.indexOf("#")] = 0xff;
    expect(await found(text, "a\ufffdb")).toEqual([1]);
  });

  test("of other scripts and beyond the first plane are found", async () => {
    const text = new Chain().user("日本語のテキスト 🙂 𝒳").user("none").text;
    for (const query of ["日本", "🙂", "𝒳", "ト 🙂"]) expect(await found(text, query)).toEqual([1]);
  });
});

/** Escapes every character of the texts in a line. */
function escaped(text: string, spell: (hex: string) => string): string {
  return [...Array(text.length).keys()]
    .map((i) => spell(text.charCodeAt(i).toString(16).padStart(4, "0")))
    .join("");
}

describe("texts that a writer escapes", () => {
  const line = (json: string) =>
    `${joinLines([header()])}{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"${json}"}}\n`;

  test.each([
    ['say "hi" now', 'say \\"hi\\" now'],
    ["C:\\dir\\file", "C:\\\\dir\\\\file"],
    ["one\ntwo\tthree", "one\\ntwo\\tthree"],
    ["src/main/é.ts", "src\\/main\\/\\u00e9.ts"],
    ["<b>&amp;</b>", "\\u003cb\\u003e\\u0026amp;\\u003c/b\\u003e"],
    ["café 🙂 end", "caf\\u00E9 \\ud83d\\uDE42 end"],
    ["a\u2028b", "a\\u2028b"],
    ["\u0000\u001b[31m", "\\u0000\\u001b[31m"],
    ['"', '\\"'],
    ["/", "\\/"],
    ["\\", "\\u005c"],
  ])("are found: %j", async (text, json) => {
    for (const caseSensitive of [true, false]) {
      expect(await found(line(`x${json}y`), text, { caseSensitive })).toEqual([1]);
      expect(
        await found(line(text === "/" ? "x/y" : JSON.stringify(text).slice(1, -1)), text, { caseSensitive }),
      ).toEqual([1]);
    }
  });

  test("are found if each of their characters is escaped", async () => {
    for (const text of ["Hello/ World", "été", "日本🙂"]) {
      for (const spell of [(hex: string) => `\\u${hex}`, (hex: string) => `\\u${hex.toUpperCase()}`]) {
        expect(await found(line(escaped(text, spell)), text)).toEqual([1]);
        expect(await found(line(escaped(text, spell)), text.toUpperCase())).toEqual([1]);
      }
    }
  });

  test("are found after many escapes of other characters", async () => {
    const colors = "\\u001b[31m".repeat(100);
    expect(await found(line(`${colors}n\\u0065edle`), "needle")).toEqual([1]);
    expect(await found(line(`${colors}needl`), "needle")).toEqual([]);
  });

  test("are not found where only their spelling occurs", async () => {
    expect(await found(line("\\\\u0065\\\\n"), "e\n")).toEqual([]);
    expect(await found(line("a\\nb"), "nb")).toEqual([]);
    expect(await found(line("none"), "content")).toEqual([]);
  });
});

describe("files in any state", () => {
  test("of version 1 have entries with the same ids in every reading", async () => {
    const message = {
      type: "message",
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user", content: "needle" },
    };
    const text = joinLines([header({ version: undefined }), message, message]);
    const [first, second] = [await search(text, "needle"), await search(text, "needle")];
    expect(first.map((hit) => hit.entryId)).toEqual(second.map((hit) => hit.entryId));
    expect(new Set(first.map((hit) => hit.entryId)).size).toBe(2);
  });

  test("are searched wherever they can be read", async () => {
    const text = new Chain().user("needle 1").user("needle 2").user("needle 3").user("needle 4").text;
    expect(
      await found(
        text.replace('}\n{"type":"message","id":"00000003"', '}{"type":"message","id":"00000003"'),
        "needle",
      ),
    ).toEqual([1, 2, 3, 4]);
    expect(await found(text.replace("needle 2", 'needle "'), "needle")).toEqual([1, 3, 4]);
    expect(await found(text.slice(0, -5), "needle")).toEqual([1, 2, 3]);
    expect(await found(text + text.split("\n")[1], "needle")).toEqual([1, 2, 3, 4]);
    expect(await found("needle\n".repeat(40), "needle")).toEqual([]);
  });

  test("larger than a piece are searched to the end, across piece boundaries", async () => {
    const piece = 1024 * 1024;
    const start = joinLines([header()]);
    const front = (id: number) =>
      `{"type":"message","id":"0000000${id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"`;
    for (let shift = 0; shift < 14; shift += shift < 10 ? 3 : 1) {
      const first = `${start}${front(1)}`;
      const line1 = `${first}${"x".repeat(piece - Buffer.byteLength(first) - shift)}Zn\\u00fcedle"}}\n`;
      const line2 = `${front(2)}${"y".repeat(piece)}"}}\n${front(3)}znüedle ${"y".repeat(2 * piece)} znüedle"}}\n`;
      expect([shift, await found(line1 + line2, "znüedle")]).toEqual([shift, [1, 3]]);
    }
  });
});

describe("many files", () => {
  function folder() {
    const sessionDir = temporaryFolder();
    for (const [i, cwd] of ["/a", "/b", "/a", "/a"].entries()) {
      const text = new Chain(header({ id: `s${i}`, cwd })).user(i === 0 ? "none" : "needle", {
        timestamp: START_MS,
      }).text;
      put(join(sessionDir, `${i}.jsonl`), text, i);
    }
    put(join(sessionDir, "x.jsonl"), "needle\n", 9);
    return { sessionDir, cache: false };
  }

  test("are searched from the one written to last, in one project if it is given", async () => {
    const scope = folder();
    const sessions = async (options: SearchOptions) =>
      (await all(searchSessions("needle", { ...scope, ...options }))).map((hit) => hit.session.id);
    expect(await sessions({})).toEqual(["s3", "s2", "s1"]);
    expect(await sessions({ cwd: "/a" })).toEqual(["s3", "s2"]);
    expect(await sessions({ cwd: "/a", regex: true })).toEqual(["s3", "s2"]);
    expect(await sessions({ limit: 2 })).toEqual(["s3", "s2"]);
  });

  test("are skipped when the caller aborts", async () => {
    const stop = new AbortController();
    const hits = searchSessions("needle", { ...folder(), signal: stop.signal });
    expect((await hits.next()).value?.session.id).toBe("s3");
    stop.abort();
    await expect(hits.next()).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("leave rows in the cache for a subsequent list", async () => {
    const { sessionDir } = folder();
    const cacheDir = temporaryFolder();
    const [one, two] = [0, 1].map(() => all(searchSessions("needle", { sessionDir, cacheDir })));
    expect(await one).toEqual(await two);
  });
});

describe("a regular expression", () => {
  const chain = new Chain().user("foo(1) bar").user("FOO(22)\nbaz").user("none").user("🙂🙂 x");

  test("is tried on every text", async () => {
    const on = (query: string, options: SearchOptions = {}) =>
      found(chain.text, query, { regex: true, ...options });
    expect(await on("foo\\(\\d+\\)")).toEqual([1, 2]);
    expect(await on("foo\\(\\d+\\)", { caseSensitive: true })).toEqual([1]);
    expect(await on("^none$")).toEqual([3]);
    expect(await on("^\\p{Emoji_Presentation}{2} ")).toEqual([4]);
    expect(await on("ba[rz]\\-?", { roles: ["user"] })).toEqual([1, 2]);
    expect(await on("a*")).toEqual([]);
    expect((await search(chain.text, "f.*\\s+b", { regex: true }))[0]?.match).toEqual({
      start: 0,
      length: 8,
    });
  });

  test("is refused immediately if it is invalid", () => {
    expect(() => searchSessions("(", { regex: true })).toThrow(
      expect.objectContaining({ code: "INVALID_QUERY" }),
    );
  });

  test("that never ends skips the session with a report, and the search continues", async () => {
    const sessionDir = temporaryFolder();
    const path = put(join(sessionDir, "a.jsonl"), new Chain().user(`${"a".repeat(60)}!`).text, 2);
    put(join(sessionDir, "b.jsonl"), new Chain(header({ id: "b" })).user("aaa").text, 1);
    const skipped: SkippedFile[] = [];
    const options = {
      sessionDir,
      cache: false,
      regex: true,
      onSkipped: (one: SkippedFile) => skipped.push(one),
    };
    const hits = await all(searchSessions("^(a+)+$", options));
    expect(skipped).toContainEqual({ path, reason: "too-slow" });
    // Under Wine, a busy machine can take a quarter of a second for the other one as well.
    const isOtherSlow = IS_WINE && skipped.length === 2;
    expect(hits.map((hit) => hit.session.id)).toEqual(isOtherSlow ? [] : ["b"]);
    expect(skipped).toHaveLength(isOtherSlow ? 2 : 1);
  });
});
