import { appendFileSync, copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CatalogCache } from "../../../src/catalog/list/catalog-cache.ts";
import { collectGrams, GramCollector, hasGrams } from "../../../src/catalog/list/gram-filter.ts";
import { getRequiredWords, parseQuery } from "../../../src/catalog/query/search-query.ts";
import { makeLiteralFinder } from "../../../src/catalog/query/text-matcher.ts";
import { searchSessions } from "../../../src/catalog/search/search.ts";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { FILTERS } from "../../../src/session/files/cache-files.ts";
import { readCached } from "../../../src/session/files/folder-cache.ts";
import { forgetReplaced, noteCacheFolder } from "../../../src/session/files/forget-session.ts";
import { listSessionFiles } from "../../../src/session/files/session-files.ts";
import { mergeSessions } from "../../../src/session/manager/merge-files.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import fc from "../../support/fast-check.ts";
import { openedFiles, overwrite } from "../../support/opened-files.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, put } from "../support/sessions.ts";

/** Builds the filter of bytes that arrive in pieces. */
function filterOf(bytes: Uint8Array, cuts: readonly number[] = []): Uint8Array {
  const collector = new GramCollector(bytes.length);
  let from = 0;
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    const end = Math.max(from, Math.min(cut, bytes.length));
    collector.feed(bytes.subarray(from, end));
    from = end;
  }
  return collector.filter;
}

const characters = fc.oneof(
  fc.constantFrom(...'aAkKsSeE/\\"\n\t.*<&éÉßſµΜıİκςΣσȺⱥɐⱯдД日\u212a\u2028\u0000\ufeff', "🙂", "\ud83d"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const texts = fc.array(characters, { maxLength: 12 }).map((some) => some.join(""));

/** Returns a text as JSON, with escapes for some of its units. */
function spell(text: string, ways: readonly boolean[]): string {
  return Array.from({ length: text.length }, (_, i) => {
    const unit = text.charAt(i);
    const hex = text.charCodeAt(i).toString(16).padStart(4, "0");
    const isHalf = /[\ud800-\udfff]/.test(unit);
    return isHalf || ways[i % ways.length] === true ? `\\u${hex}` : JSON.stringify(unit).slice(1, -1);
  }).join("");
}

test("a text with the words of a query has their grams, however it is spelled and split", () => {
  fc.assert(
    fc.property(
      texts,
      texts,
      texts,
      fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(60), { maxLength: 4 }),
      fc.constantFrom(0, 1, 2),
      fc.constantFrom("", "\u00ff\\", "\u00c3", "\\u12", "\u00e4\u00bd"),
      (before, text, after, ways, cuts, form, damage) => {
        const { terms } = parseQuery(text);
        const written = [text, text.toUpperCase(), text.toLowerCase()][form] ?? "";
        const whole = `${before}${written}${after}`;
        fc.pre(terms.every((term) => makeLiteralFinder(term, false, 1)(whole).length > 0));
        const bytes = Buffer.concat([
          Buffer.from(damage, "latin1"),
          Buffer.from(`\n"${spell(whole, ways)}"`),
        ]);
        const grams = collectGrams(getRequiredWords(parseQuery(text)));
        expect(hasGrams(filterOf(bytes, cuts), grams)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});

test("a text without a word usually lacks its grams", () => {
  const filter = filterOf(Buffer.from("the quick brown fox jumps over the lazy dog ".repeat(200)));
  expect(hasGrams(filter, collectGrams(["QUICK", "fox"]))).toBe(true);
  expect(hasGrams(filter, collectGrams(["zebrafish"]))).toBe(false);
  expect(hasGrams(filter, collectGrams(["cat"]))).toBe(true);
});

/** Large enough that a search keeps a filter, and without a line that contains "zebra". */
function large(id: string, last: string): string {
  const chain = new Chain(header({ id }));
  for (let i = 0; i < 40; i++) chain.user(`${i} ${"lorem ipsum dolor ".repeat(2000)}`);
  return chain.user(last).text;
}

/** Creates two large sessions, and searches that cache their results. */
function scene() {
  const sessionDir = temporaryFolder();
  const cacheDir = temporaryFolder();
  const a = put(join(sessionDir, "a.jsonl"), large("a", "one zebrafish"), 1);
  const b = put(join(sessionDir, "b.jsonl"), large("b", "none"), 2);
  const found = async (query: string, options = {}) =>
    (await all(searchSessions(query, { sessionDir, cacheDir, ...options }))).map(({ session }) => session.id);
  const filters = () => readdirSync(cacheDir).filter((name) => name.endsWith(".grams"));
  return { a, b, cacheDir, found, filters };
}

test("a repeated search finds the same, and reads no file that lacks the word", async () => {
  const { a, b, found, filters } = scene();
  expect(await found("zebrafish")).toEqual(["a"]);
  expect(filters()).toHaveLength(1);
  const opened = openedFiles();
  expect(await found("zebrafish")).toEqual(["a"]);
  expect([opened.includes(a), opened.includes(b)]).toEqual([true, false]);
  expect(await found("zebra?f?", { regex: true })).toEqual(["a"]);
  expect(opened).toContain(b);
});

test("a file that was rewritten in place with the same size and a restored modification time is searched again", async () => {
  const { a, b, found } = scene();
  expect(await found("zebrafish")).toEqual(["a"]);
  overwrite(b, "none", "zebr");
  expect((await found("zebr")).toSorted()).toEqual(["a", "b"]);
  overwrite(a, "zebrafish", "_________");
  expect(await found("zebrafish")).toEqual([]);
});

test("words too short for a filter, and those of scripts without spaces, are found again", async () => {
  const { a, found, filters } = scene();
  put(a, large("a", "Q7 und 中文搜索 東京都"), 3);
  await found("zebrafish");
  expect(filters()).toHaveLength(1);
  for (const query of ["q7", "中文", "文搜索", "中文搜索", "京", "東京都", "都 Q", '"搜索 東京"'])
    expect(await found(query), query).toEqual(["a"]);
  for (const query of ["q8", "文中", "中文搜尋", '"索東"']) expect(await found(query), query).toEqual([]);
});

test("files that grew, were replaced, or were removed are searched again", async () => {
  const { a, b, found } = scene();
  expect(await found("zebrafish")).toEqual(["a"]);
  const line = new Chain(header(), 99).user("another zebrafish").text.split("\n")[1];
  appendFileSync(b, `${line}\n`);
  expect((await found("zebrafish")).toSorted()).toEqual(["a", "b"]);
  put(a, large("a", "gone"), 3);
  expect(await found("zebrafish")).toEqual(["b"]);
  expect(await found("gone")).toEqual(["a"]);
});

test("damaged filters, and those of another version or folder, cost only time", async () => {
  const { cacheDir, found, filters } = scene();
  await found("zebrafish");
  const [name = ""] = filters();
  const path = join(cacheDir, name);
  const bytes = readFileSync(path);
  for (const [at, count] of [
    [0, 4],
    [10, 1],
    [bytes.length - 9, 5],
    [200, 100],
  ] as const) {
    const damaged = Buffer.from(bytes);
    for (let i = at; i < at + count; i++) damaged[i] = ~(damaged[i] ?? 0);
    for (const content of [damaged, bytes.subarray(0, at), Buffer.alloc(0)]) {
      writeFileSync(path, content);
      expect(await found("zebrafish")).toEqual(["a"]);
    }
  }
});

async function redactText(path: string): Promise<void> {
  const session = SessionManager.open(path);
  await session.redactText(/zebrafish|none/);
  await session.close();
}

/** Redacts the last entry immediately. */
function redactLast(path: string): Promise<void> {
  const session = SessionManager.open(path);
  session.redactEntry(session.getLeafId() ?? "");
  return session.close();
}

describe("a session's filter is removed, and those of others remain,", () => {
  test.each<[string, (path: string) => unknown]>([
    ["an entry is redacted", redactLast],
    ["a text is redacted", redactText],
    ["it is removed", (path) => deleteSession(path, { permanent: true })],
    [
      "a redacted copy is merged into it",
      async (path) => {
        const copy = join(temporaryFolder(), "copy.jsonl");
        copyFileSync(path, copy);
        await redactText(copy);
        mergeSessions(path, copy, { inPlace: true });
      },
    ],
    [
      "work on many sessions replaces it",
      (path) => {
        put(`${path}.new`, "gone");
        renameSync(`${path}.new`, path);
        forgetReplaced();
      },
    ],
  ])("when %s", async (_, change) => {
    const { a, b, cacheDir, found, filters } = scene();
    await found("zebrafish");
    const names = () =>
      filters().flatMap((name) => [...(readCached(join(cacheDir, name), FILTERS)?.files.keys() ?? [])]);
    expect(names().toSorted()).toEqual(["a.jsonl", "b.jsonl"]);
    // The unfinished file of a killed process may contain it, too.
    put(join(cacheDir, `${filters()[0]}.123456`), "", 0);
    await change(a);
    expect(names()).toEqual(["b.jsonl"]);
    expect(readdirSync(cacheDir).filter((name) => name.endsWith(".123456"))).toEqual([]);
    await change(b);
    expect(filters()).toEqual([]);
  });
});

test("a search that runs while a session is redacted keeps no filter of the removed text", async () => {
  const { a, cacheDir, filters } = scene();
  // The redaction may remove the file that is being written.
  const cache = new CatalogCache({ cacheDir, onCacheError: () => undefined });
  noteCacheFolder(cacheDir);
  const files = [...listSessionFiles(dirname(a), () => undefined)].filter(({ path }) => path === a);
  for (const file of files) cache.putFilter(file, file, filterOf(readFileSync(a)));
  // All checks before the file is written have finished.
  const saved = cache.save([], files);
  await redactLast(a);
  await saved;
  expect(filters()).toEqual([]);
});
