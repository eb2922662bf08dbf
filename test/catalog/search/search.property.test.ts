import { join } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { parseQuestion } from "../../../src/catalog/query/question.ts";
import { getDateParts, getSearchedText } from "../../../src/catalog/query/search-text.ts";
import { makeTextPatterns } from "../../../src/catalog/query/text-bytes.ts";
import { readWords } from "../../../src/catalog/query/words.ts";
import { type SearchOptions, searchSession, searchSessions } from "../../../src/catalog/search/search.ts";
import { toRecord } from "../../../src/core/context/entry-fields.ts";
import { getRecordTime } from "../../../src/core/format/timestamps.ts";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import fc from "../../support/fast-check.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, put } from "../support/sessions.ts";
import { nearlyHealthySessions, wildSessions } from "../support/wild-sessions.ts";

const RUNS = 500;

/** Characters that writers escape, that have several forms, or that are special in regular expressions. */
const characters = fc.oneof(
  fc.constantFrom(...'aAkKsSeE /\\"\n\t.*<&éÉßſµΜıİκςΣσȺⱥɐⱯдД日\u212a\u2028\u0000\ufeff', "🙂", "\ud83d"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);

const texts = fc.array(characters, { maxLength: 12 }).map((all) => all.join(""));

/** Returns a text as JSON, each unit in one of its possible spellings. */
function spell(text: string, ways: readonly number[]): string {
  return Array.from({ length: text.length }, (_, i) => {
    const unit = text.charAt(i);
    const way = ways[i % ways.length] ?? 0;
    const hex = text.charCodeAt(i).toString(16).padStart(4, "0");
    const isHalf = /[\ud800-\udfff]/.test(unit);
    if (way === 1 || (isHalf && /^\p{Surrogate}$/u.test([...text.slice(i)][0] ?? ""))) return `\\u${hex}`;
    if (way === 2) return `\\u${hex.toUpperCase()}`;
    if (way === 3 && unit === "/") return "\\/";
    return isHalf ? unit : JSON.stringify(unit).slice(1, -1);
  }).join("");
}

const ways = fc.array(fc.constantFrom(0, 0, 0, 0, 1, 2, 3), { minLength: 1, maxLength: 8 });

test("a line that contains a text matches its patterns, in any spelling and case", () => {
  fc.assert(
    fc.property(
      texts,
      texts,
      texts,
      ways,
      fc.boolean(),
      fc.constantFrom(0, 1, 2),
      (before, text, after, how, isExact, form) => {
        const patterns = makeTextPatterns(text, isExact);
        const written = isExact ? text : ([text, text.toUpperCase(), text.toLowerCase()][form] ?? text);
        const fits = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), isExact ? "" : "i").test(
          written,
        );
        const json = spell(`${before}${written}${after}`, how);
        fc.pre(patterns !== undefined && fits && JSON.parse(`"${json}"`).includes(written));
        const bytes = Buffer.from(json);
        const finds = [patterns?.plain, patterns?.escaped].map((one) => one?.find(bytes, 0, bytes.length));
        expect(finds.some((at) => at !== undefined && at >= 0)).toBe(true);
      },
    ),
    { numRuns: RUNS },
  );
});

test("a search finds the same as parsing everything", async () => {
  const folder = temporaryFolder();
  const caches = temporaryFolder();
  let runs = 0;
  const queries = fc.constantFrom(
    "hello",
    "HELLO",
    "é",
    "É\u2028",
    '"timestamp": 5',
    "e\nbreak",
    "🙂",
    "2026",
    "l",
    '"',
  );
  const files = fc.oneof(nearlyHealthySessions, wildSessions);
  await fc.assert(
    fc.asyncProperty(
      files,
      queries,
      fc.boolean(),
      fc.boolean(),
      async (bytes, query, caseSensitive, regex) => {
        put(join(folder, "a.jsonl"), bytes);
        const options = { sessionDir: folder, caseSensitive, regex };
        const hits = await all(searchSessions(query, { ...options, cache: false }));
        const wanted = new RegExp(query, caseSensitive ? "" : "i");
        const { header, entries } = readSession(bytes);
        const expected = entries.filter((entry) =>
          getSearchedText(entry)?.parts.some(({ text }) => wanted.test(text)),
        );
        expect(hits.map((hit) => hit.entryId)).toEqual(header ? expected.map((entry) => entry.id) : []);

        // In a file that is known to be in order, lines are read without the rest.
        const cacheDir = join(caches, String(runs++));
        await listSessions({ sessionDir: folder, cacheDir });
        expect(await all(searchSessions(query, { ...options, cacheDir }))).toEqual(hits);
      },
    ),
    { numRuns: RUNS },
  );
});

test("a question finds the same as parsing everything, in any file, and the same again", async () => {
  const folder = temporaryFolder();
  const caches = temporaryFolder();
  let runs = 0;
  const questions = fc.constantFrom(
    "hello",
    "say TIMESTAMPS",
    "é\u2028🙂",
    "l",
    "the line",
    "2026",
    "in February",
  );
  const files = fc.oneof(nearlyHealthySessions, wildSessions);
  await fc.assert(
    fc.asyncProperty(files, questions, fc.constantFrom("", '"say"', '"5"'), async (bytes, words, phrase) => {
      const path = put(join(folder, "a.jsonl"), bytes);
      const question = `${words} ${phrase}`;
      const wanted = new Set(
        parseQuestion(question).words?.flatMap(({ hash, weight }) => (weight === 1 ? hash : [])),
      );
      const { header, entries } = readSession(bytes);
      const expected = entries.filter((entry) => {
        const { parts = [] } = getSearchedText(entry) ?? {};
        const dated = [...parts, ...getDateParts(getRecordTime(toRecord(entry)))];
        let isHeld = false;
        for (const { text } of dated)
          readWords(text, (hash) => {
            isHeld ||= wanted.has(hash);
          });
        const said = phrase.replaceAll('"', "");
        return parts.length > 0 && isHeld && parts.some(({ text }) => text.includes(said));
      });
      const ask = async (options: SearchOptions) =>
        (await all(searchSessions(question, { sessionDir: folder, match: "any", ...options }))).map(getHitId);
      const hits = await ask({ cache: false });
      expect(hits.toSorted()).toEqual(header ? expected.map(({ id }) => id).toSorted() : []);
      const cacheDir = join(caches, String(runs++));
      await listSessions({ sessionDir: folder, cacheDir });
      expect(await ask({ cacheDir })).toEqual(hits);
      if (header)
        expect((await all(searchSession(path, question, { match: "any" }))).map(getHitId)).toEqual(hits);
    }),
    { numRuns: RUNS },
  );
});

const getHitId = ({ entryId }: { readonly entryId: string }) => entryId;
