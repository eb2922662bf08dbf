import assert from "node:assert/strict";
import { IMPORT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import type { SearchInStoreOptions, SessionStore } from "../contract/session-store.ts";
import { all, CWD, cut, expectError, makeHeaderLine, START_MS, type SuiteTest, testWith } from "./kit.ts";

const test = testWith();

const at = (seconds: number) => new Date(START_MS + seconds * 1_000);

/** Returns the line of an entry identified by one letter. */
function line(letter: string, parent: string | null, seconds: number, fields: object): string {
  const [id, parentId] = [makeEntryId(letter), parent === null ? null : makeEntryId(parent)];
  return JSON.stringify({ type: "message", id, parentId, timestamp: at(seconds).toISOString(), ...fields });
}

const makeEntryId = (letter: string) => letter.charCodeAt(0).toString(16).padStart(8, "0");
const getLetter = (id: string) => String.fromCharCode(Number.parseInt(id, 16));

const said = (role: string, ...texts: string[]) => ({
  message: { role, content: texts.map((text) => ({ type: "text", text })) },
});

const call = { type: "toolCall", id: "c1", name: "Shell", arguments: { command: "cat src/deep/a.ts" } };

/** Session with an abandoned branch and a failed call. */
const SEARCHED = [
  makeHeaderLine("searched"),
  line("a", null, 0, said("user", "The Quick brown fox", "jumps over the dog")),
  line("b", "a", 1, {
    message: { role: "assistant", content: [{ type: "text", text: "quickly now" }, call] },
  }),
  line("c", "b", 2, {
    message: {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "Shell",
      content: [{ type: "text", text: "quick: no such file" }],
      isError: true,
    },
  }),
  line("d", "a", 3, said("user", "left with a quick 日本語 and ÉTÉ")),
  line("e", "c", 4, said("user", "a phrase\n\t broken over lines, x=1;")),
  line("f", "e", 5, {
    type: "compaction",
    summary: "quick work was done",
    firstKeptEntryId: makeEntryId("a"),
    tokensBefore: 1,
  }),
];

/** Imported session. */
const IMPORTED = [
  makeHeaderLine("imported"),
  line("i", null, 0, {
    type: "custom",
    customType: IMPORT_CUSTOM_TYPE,
    data: { source: "codex", sourceId: "one" },
  }),
  line("j", "i", 1, said("user", "imported fox")),
];

/** Session with a failed result whose call is missing. */
const ORPHAN = [
  makeHeaderLine("orphan"),
  line("k", null, 0, {
    message: { role: "toolResult", toolCallId: "c9", toolName: "Fetch", content: "refused", isError: true },
  }),
];

type Case = readonly [query: string, options: SearchInStoreOptions, expected: string];

/** Queries and their hits: the letters of the entries, capitalized for entries on an abandoned branch. */
const CASES: readonly Case[] = [
  // Words may occur in any order, in any text of the entry, and within other words.
  ["fox quick", {}, "a"],
  ["dog QUICK jumps", {}, "a"],
  ["quick", {}, "abcDf"],
  ["quick absent", {}, ""],
  ["ick own", {}, "a"],
  ["quick", { caseSensitive: true }, "bcDf"],
  // A phrase must occur in one text, and its white space matches any white space.
  ['"brown fox"', {}, "a"],
  ['"fox jumps"', {}, ""],
  ['"a phrase broken  over"', {}, "e"],
  ['"brown fox" dog', {}, "a"],
  // Short words, other scripts, and characters with special meanings.
  ["x", {}, "aej"],
  ["日本", {}, "D"],
  ["本 été", {}, "D"],
  ["été", { caseSensitive: true }, ""],
  ["x=1;", {}, "e"],
  ["%", {}, ""],
  ["_", {}, ""],
  ["qu.ck", {}, ""],
  ["qu.ck\\s", { regex: true }, "aDf"],
  ["^QUICK", { regex: true }, "bcf"],
  ["^quick(?!l)", { regex: true, caseSensitive: true }, "cf"],
  // Filters, which require no words if they select entries.
  ["quick", { roles: ["toolResult", "compactionSummary"] }, "cf"],
  ["quick", { roles: [] }, ""],
  ["quick", { tools: ["shell"] }, "c"],
  ["cat", { tools: ["SHELL"] }, "b"],
  ["", { tools: ["shell"] }, "bc"],
  ["", { tools: ["read"] }, ""],
  ["quick", { path: "deep/a.ts" }, "c"],
  ["", { path: `${CWD}/src` }, "bc"],
  ["", { path: CWD }, "bc"],
  ["quick", { path: CWD }, "c"],
  ["", { path: "a.t" }, ""],
  ["", { failed: true }, "ck"],
  ["fetch", { failed: true }, "k"],
  ["refused", { failed: true, tools: ["FETCH"] }, "k"],
  ["fetch", {}, ""],
  ["cat", { failed: true }, "c"],
  ["quick", { failed: true, roles: ["user"] }, ""],
  ["quick", { since: at(2) }, "cDf"],
  ["quick", { until: at(2) }, "ab"],
  ["quick", { since: at(1), until: at(3) }, "bc"],
  ["quick", { branch: "active" }, "abcf"],
  ["", { tools: ["shell"], branch: "active" }, "bc"],
  ["日本", { branch: "active" }, ""],
  ["fox", {}, "aj"],
  ["fox", { source: "codex" }, "j"],
  ["fox", { source: "any" }, "j"],
  ["fox", { source: "claude-code" }, ""],
  ["fox", { cwd: "/projects/none" }, ""],
];

async function found(store: SessionStore, query: string, options: SearchInStoreOptions): Promise<string[]> {
  const hits = await all(store.search(query, options));
  return hits.map(({ entryId, branch }) =>
    branch === "left" ? getLetter(entryId).toUpperCase() : getLetter(entryId),
  );
}

async function put(store: SessionStore, lines: readonly string[]): Promise<void> {
  await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 1_000));
}

/** Tests for searches, which have the same results in every store. */
export const SEARCHES: readonly SuiteTest[] = [
  test("finds the same entries as a search in files, by words, phrases, expressions, and filters", async ({
    store,
  }) => {
    await put(store, SEARCHED);
    await put(store, IMPORTED);
    await put(store, ORPHAN);
    for (const [query, options, expected] of CASES) {
      for (const ranked of [false, true]) {
        const letters = await found(store, query, { ...options, ranked });
        const sorted = letters.sort((a, b) => a.localeCompare(b, "en")).join("");
        assert.equal(sorted, expected, `${query} ${JSON.stringify({ ...options, ranked })}`);
      }
    }
  }),
  test("answers questions like a search in files: entries with the most and rarest words first", async ({
    store,
  }) => {
    await put(store, SEARCHED);
    await put(store, [
      makeHeaderLine("asked"),
      line("p", null, 0, said("user", "How do we deploy to the staging server?")),
      line("q", "p", 1, said("assistant", "Deploys run with make release, after the tests.")),
      line("r", "q", 2, said("user", "The lock of the release was lost: two servers deployed at once.")),
      line("s", "r", 3, said("user", "スレッドのロックが外れた")),
    ]);
    const ask = (question: string, options: SearchInStoreOptions = {}) =>
      found(store, question, { match: "any", ...options });
    assert.equal((await ask("why did both servers deploy at the same time?")).join(""), "rpq");
    assert.deepEqual(await ask("which lock was lost when deploying?", { limit: 1 }), ["r"]);
    assert.deepEqual(await ask('"make release" lock'), ["q"]);
    assert.deepEqual(await ask("ロックは?"), ["s"]);
    assert.deepEqual(await ask("deploy", { roles: ["assistant"] }), ["q"]);
    assert.deepEqual(await ask("deploy", { since: at(1), until: at(2) }), ["q"]);
    assert.deepEqual(await ask("nowhere to be seen"), []);
    const [hit] = await all(store.search("the lost zebra lock", { match: "any" }));
    assert.deepEqual([hit?.partial, hit?.missing], [true, ["zebra"]]);
    assert.ok(hit !== undefined && hit.score > 0 && hit.score <= 1);
    await expectError("INVALID_QUERY", () => all(store.search("x".repeat(100_001), { match: "any" })));
  }),
  test("ranks closer words, messages, and recent entries before the rest", async ({ store }) => {
    const far = `needle ${"and more of the same ".repeat(20)} hay`;
    const output = { role: "toolResult", toolCallId: "x", toolName: "read", isError: false };
    const texts = [{ type: "text", text: "needle hay" }];
    await put(store, [
      makeHeaderLine("ranked"),
      line("o", null, 0, { message: { ...output, content: texts } }),
      line("f", "o", 0, said("user", far)),
      line("c", "f", 0, said("user", "a needle, hay")),
      line("n", "c", (Date.now() - START_MS) / 1_000, said("user", "a needle, hay")),
    ]);
    const ranked = await found(store, "hay needle", { ranked: true });
    assert.deepEqual(ranked.slice(0, 2), ["n", "c"]);
    assert.deepEqual(ranked.slice(2).sort(), ["f", "o"]);
    assert.deepEqual(await found(store, "hay needle", { ranked: true, limit: 1 }), ["n"]);
    const [hit] = await all(store.search("hay needle", { ranked: true }));
    assert.equal(hit?.snippet, "a needle, hay");
    assert.ok(hit !== undefined && hit.score > 0 && hit.score <= 1);
    assert.equal(hit.session.id, "ranked");
  }),
];
