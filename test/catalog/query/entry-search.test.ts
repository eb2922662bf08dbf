import { describe, expect, test } from "vitest";
import { EntrySearch, planSearch } from "../../../src/catalog/query/entry-search.ts";
import { parseQuery, type SearchFilters } from "../../../src/catalog/query/search-query.ts";
import { makeBoundedMatcher } from "../../../src/catalog/search/search.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 24 * 3600 * 1000;

let entries: AnySessionEntry[] = [];

/** Adds an entry with a message. */
function add(message: object, ageInDays = 0): string {
  const id = `e${entries.length}`;
  const timestamp = new Date(NOW_MS - ageInDays * DAY_MS).toISOString();
  entries = [...entries, { type: "message", id, parentId: null, timestamp, message }];
  return id;
}

const said = (content: unknown, ageInDays?: number) => add({ role: "user", content }, ageInDays);
const answered = (content: unknown, ageInDays?: number) => add({ role: "assistant", content }, ageInDays);
const wrote = (text: string, rest: object = {}) =>
  add({ role: "toolResult", toolName: "bash", content: [{ type: "text", text }], ...rest });
const called = (name: string, input: object, id = "c") =>
  answered([{ type: "toolCall", id, name, arguments: input }]);

function hitsFor(query: string, filters: SearchFilters & { regex?: boolean } = {}, cwd = "/home/me/app") {
  const plan = planSearch(parseQuery(query, filters), filters, NOW_MS, makeBoundedMatcher);
  return new EntrySearch(plan, cwd).findHits(entries).map(({ hit }) => hit);
}

const found = (...of: Parameters<typeof hitsFor>) => hitsFor(...of).map(({ entryId }) => entryId);

/** Returns the ids of hits, best first. */
const ranked = (...of: Parameters<typeof hitsFor>) =>
  hitsFor(...of)
    .toSorted((a, b) => b.score - a.score)
    .map(({ entryId }) => entryId);

function fresh<T>(make: () => T): T {
  entries = [];
  return make();
}

describe("words", () => {
  test("are in any order, all in one entry, in any of its texts", () => {
    const ids = fresh(() => [
      said("beta then alpha"),
      said("alpha alone"),
      answered([
        { type: "thinking", thinking: "alpha" },
        { type: "text", text: "BETA" },
      ]),
    ]);
    expect(found("alpha beta")).toEqual([ids[0], ids[2]]);
    expect(found('"alpha beta"')).toEqual([]);
    expect(found("alpha", { regex: true })).toEqual(ids);
  });

  test("of a hit are shown where they are closest, together if adjacent", () => {
    fresh(() => said(`alpha ${"x ".repeat(100)} beta and alpha: beta`));
    const [hit] = hitsFor("beta alpha");
    expect(hit?.snippet.substr(hit.match.start, hit.match.length)).toBe("alpha: beta");
  });

  test("in rare texts of a million characters are found in time", () => {
    const text = "a".repeat(1_000_000);
    const id = fresh(() => said(`${text}b ${text}`));
    expect(found(`${"a".repeat(500)}b`)).toEqual([id]);
    expect(found(`${"a".repeat(500)}c`)).toEqual([]);
    expect(found(`"${"a ".repeat(40)}"`)).toEqual([]);
  });
});

describe("the score", () => {
  test("is higher for messages than for tool output", () => {
    const [tool, call, thought, answer] = fresh(() => [
      wrote("needle"),
      called("grep", { pattern: "needle" }),
      answered([{ type: "thinking", thinking: "needle" }]),
      answered([{ type: "text", text: "needle" }]),
    ]);
    expect(ranked("needle")).toEqual([answer, thought, call, tool]);
    const [, once] = fresh(() => [wrote("needle ".repeat(50)), answered("the needle")]);
    expect(ranked("needle")[0]).toBe(once);
  });

  test("is higher for more words, closer words, whole words, and new entries", () => {
    const pairs: [() => string, () => string, string][] = [
      [() => said("needle needle"), () => said("one needle"), "needle"],
      [() => said("hay needle"), () => said(`hay ${"and ".repeat(50)} needle`), "hay needle"],
      [() => said("a test of it"), () => said("a contest of it"), "test"],
      [() => said("needle", 1), () => said("needle", 60), "needle"],
      // More of a rare word counts more than more of a short one.
      [
        () => said("a thing, a zebrafish, zebrafish"),
        () => said("a thing, a thing, a zebrafish"),
        "a zebrafish",
      ],
    ];
    for (const [better, worse, query] of pairs) {
      const [second, first] = fresh(() => [worse(), better()]);
      expect(ranked(query), query).toEqual([first, second]);
      const [best, other] = fresh(() => [better(), worse()]);
      expect(ranked(query), query).toEqual([best, other]);
    }
  });

  test("puts whole words before parts of words, whatever else counts", () => {
    const [part, whole] = fresh(() => [
      said("Tests, tests, untested!"),
      wrote(`${"tests ".repeat(100)}test`),
    ]);
    expect(ranked("test")).toEqual([whole, part]);
    // A phrase is whole if both of its ends are.
    const [longer, exact] = fresh(() => [said("exit code 12"), wrote("exit code 1")]);
    expect(ranked('"exit code 1"')).toEqual([exact, longer]);
    const [one, both] = fresh(() => [said("a test of attests"), wrote("attest the test")]);
    expect(ranked("test attest")).toEqual([both, one]);
  });

  test("treats a word as whole next to signs and in scripts without spaces", () => {
    const [, path] = fresh(() => [said("user_id"), said("src/user.ts", 900), said("superuser")]);
    expect(ranked("user")[0]).toBe(path);
    const [old, fresher] = fresh(() => [said("标题", 900), said("的标题是")]);
    expect(ranked("标题")).toEqual([fresher, old]);
    const [, call] = fresh(() => [said("recall(x"), said("x.call(x")]);
    expect(ranked("call(x")[0]).toBe(call);
    expect(ranked(".call(x")).toEqual([call]);
  });

  test("shows the whole word of a text that also has parts", () => {
    fresh(() => said(`${"testing ".repeat(50)}a test`));
    const [hit] = hitsFor("test");
    expect(hit?.snippet.slice(0, hit.match.start)).toMatch(/ a $/);
    expect(hit?.snippet.slice(hit.match.start)).toBe("test");
  });

  test("is between 0 and 1", () => {
    fresh(() => [said("needle ".repeat(500)), wrote(`x${"y".repeat(10_000)}needle`), said("needle", 10_000)]);
    for (const { score } of hitsFor("needle")) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });
});

describe("filters", () => {
  test("keep a tool's calls and results, and search nothing else of them", () => {
    const [, call, result] = fresh(() => [
      answered("needle"),
      answered([
        { type: "text", text: "needle" },
        { type: "toolCall", id: "1", name: "Bash", arguments: { command: "echo needle" } },
        { type: "toolCall", id: "2", name: "read", arguments: { path: "hay" } },
      ]),
      wrote("needle"),
      wrote("needle", { toolName: "read" }),
    ]);
    expect(found("needle", { tools: ["bash"] })).toEqual([call, result]);
    expect(hitsFor("needle", { tools: ["bash"] })[0]).toMatchObject({ tool: "Bash", snippet: "echo needle" });
    expect(found("hay", { tools: ["bash"] })).toEqual([]);
    expect(hitsFor("", { tools: ["Bash"] })[0]?.snippet).toBe("Bash echo needle");
  });

  test("keep calls that name a file, and their results", () => {
    const [read, , other, patch, , command] = fresh(() => [
      called("read", { path: "src/a.ts" }, "1"),
      wrote("needle", { toolCallId: "1" }),
      called("edit", { file_path: "/home/me/app/src/b.ts", new_string: "src/a.ts" }, "2"),
      called("apply_patch", { input: "*** Begin Patch\n*** Update File: src/a.ts\n@@" }, "3"),
      said("src/a.ts needle"),
      called("shell", { command: ["bash", "-lc", "sed -n 1p './src/a.ts'"] }, "4"),
    ]);
    const about = [read, "e1", patch, command];
    for (const path of ["src/a.ts", "a.ts", "./src/a.ts", "/home/me/app/src/a.ts", "src\\a.ts"])
      expect(found("", { path }), path).toEqual(about);
    expect(found("", { path: "src" })).toEqual([read, "e1", other, patch, command]);
    expect(found("needle", { path: "src/a.ts" })).toEqual(["e1"]);
    for (const path of ["rc/a.ts", "src/a", "app", "/src/a.ts", "../src/a.ts/x"])
      expect(found("", { path }), path).toEqual([]);
    expect(found("", { path: "c:/App/SRC/b.ts" }, "/x")).toEqual([]);
  });

  test("match a result on each branch on which its call has one", () => {
    const [, first, second] = fresh(() => [
      called("read", { path: "src/a.ts" }, "1"),
      wrote("needle", { toolCallId: "1" }),
      wrote("needle", { toolCallId: "1", isError: true }),
    ]);
    expect(found("needle", { path: "src/a.ts" })).toEqual([first, second]);
    expect(found("a.ts", { failed: true })).toEqual([second]);
  });

  test("match Windows paths in any case", () => {
    const id = fresh(() => called("read", { path: "src\\A.ts" }));
    expect(found("", { path: "C:\\app\\src\\a.ts" }, "c:\\App")).toEqual([id]);
  });

  test("keep failures and the calls that they belong to", () => {
    const [, failed] = fresh(() => [
      called("edit", { path: "src/a.ts" }, "1"),
      wrote("old text not found", { toolCallId: "1", toolName: "edit", isError: true }),
      wrote("error: fine", { isError: false }),
    ]);
    expect(found("", { failed: true })).toEqual([failed]);
    expect(found("a.ts found", { failed: true })).toEqual([failed]);
    expect(found("", { failed: true, path: "a.ts", tools: ["edit"] })).toEqual([failed]);
    expect(found("", { failed: true, path: "b.ts" })).toEqual([]);
    expect(hitsFor("", { failed: true })[0]).toMatchObject({
      tool: "edit",
      snippet: "edit src/a.ts failed: old text not found",
    });
  });

  test("keep times before the end", () => {
    const [, second] = fresh(() => [said("x", 3), said("x", 2), said("x", 1)]);
    entries = [
      ...entries,
      { type: "message", id: "untimed", message: { role: "user", content: "x" } } as never,
    ];
    const since = new Date(NOW_MS - 2 * DAY_MS);
    expect(found("x", { since, until: new Date(NOW_MS - DAY_MS) })).toEqual([second]);
    expect(found("x", { since })).toHaveLength(2);
    expect(hitsFor("x", { since })[0]?.time).toEqual(since);
    expect(hitsFor("x").at(-1)).not.toHaveProperty("time");
  });

  test("alone find only failures, tools, and files", () => {
    fresh(() => said("x"));
    expect(found("", { path: "x" })).toEqual([]);
    expect(found("x", { roles: [] })).toEqual([]);
  });
});
