import { join } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../src/catalog/list/list-sessions.ts";
import { type SearchOptions, searchSessions } from "../../src/catalog/search/search.ts";
import { memoryStore } from "../../src/stores/remote/remote-store.ts";
import { cut } from "../../src/stores/suite/kit.ts";
import { all, put } from "../catalog/support/sessions.ts";
import fc from "../support/fast-check.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ModelQuery, naiveSearch } from "./support/search-model.ts";

const CWD = "/projects/one";
const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

const WORDS = ["red", "Red", "green", "evergreen", "blue\n\tsky", "日本", "É", "é", "src/a.ts", "x"];
const words = fc.constantFrom(...WORDS);
const texts = fc.array(words, { maxLength: 4 }).map((some) => some.join(" "));
const text = texts.map((said) => ({ type: "text", text: said }));
const files = fc.constantFrom("src/a.ts", "src/b.ts", `${CWD}/src/a.ts`, "/etc/a.ts", "a.ts");

/** Body of an entry. Results name any of the first calls, made or not. */
const bodies = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    message: fc.record({ role: fc.constant("user"), content: texts }),
  }),
  fc.record({
    type: fc.constant("message"),
    message: fc.record({
      role: fc.constant("assistant"),
      content: fc.tuple(
        text,
        texts.map((thinking) => ({ type: "thinking", thinking })),
        fc.record({
          type: fc.constant("toolCall"),
          name: fc.constantFrom("read", "Shell"),
          arguments: fc.oneof(
            fc.record({ path: files, deep: fc.array(fc.record({ value: texts }), { maxLength: 2 }) }),
            fc.record({ command: fc.tuple(fc.constantFrom("cat", "rm"), files).map((all) => all.join(" ")) }),
          ),
        }),
      ),
    }),
  }),
  fc.record({
    type: fc.constant("message"),
    message: fc.record({
      role: fc.constant("toolResult"),
      toolCallId: fc.nat(8).map((i) => `call-${i}`),
      toolName: fc.constantFrom("read", "Shell"),
      content: fc.array(text, { maxLength: 2 }),
      isError: fc.boolean(),
    }),
  }),
  fc.record({
    type: fc.constant("message"),
    message: fc.record({
      role: fc.constant("bashExecution"),
      command: files.map((file) => `cat ${file}`),
      output: texts,
      exitCode: fc.nat(1),
    }),
  }),
  fc.record({ type: fc.constant("custom_message"), customType: fc.constant("red"), content: texts }),
  fc.record({ type: fc.constant("compaction"), summary: texts, firstKeptEntryId: fc.constant("00000000") }),
  fc.record({ type: fc.constant("branch_summary"), summary: texts, fromId: fc.constant("00000000") }),
  fc.record({ type: fc.constant("custom"), customType: fc.constant("red"), data: texts }),
);

const idOf = (i: number) => i.toString(16).padStart(8, "0");

/** Lines of a session: each entry is a child of any previous one, most of them of the last. */
const sessions = fc
  .array(fc.record({ body: bodies, back: fc.constantFrom(1, 1, 1, 1, 2, 3), seconds: fc.nat(5) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((entries) => {
    const timestamp = new Date(START_MS).toISOString();
    const lines: object[] = [{ type: "session", version: 3, id: "one", timestamp, cwd: CWD }];
    for (const [i, { body, back, seconds }] of entries.entries()) {
      const made = JSON.parse(JSON.stringify(body), (key, value) =>
        key === "content" && Array.isArray(value)
          ? value.map((block) => (block.type === "toolCall" ? { ...block, id: `call-${i}` } : block))
          : value,
      );
      const parentId = i - back < 0 ? null : idOf(i - back);
      const time = new Date(START_MS + seconds * 1_000).toISOString();
      lines.push({ ...made, id: idOf(i), parentId, timestamp: time });
    }
    return lines.map((line) => JSON.stringify(line));
  });

const times = fc.nat(5).map((seconds) => new Date(START_MS + seconds * 1_000));
const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });

const queries: fc.Arbitrary<ModelQuery> = fc.oneof(
  fc.record({ query: fc.constantFrom("red", "gr.*n", "^é", "x$"), regex: fc.constant(true) }),
  fc.record(
    {
      query: fc.oneof(
        fc.constantFrom(
          "",
          "red",
          '"blue sky"',
          '"red green"',
          "green red",
          "é",
          "日本",
          "a.ts",
          "cat",
          "shell",
        ),
        fc.array(words, { minLength: 1, maxLength: 2 }).map((all) => all.join(" ")),
      ),
      caseSensitive: fc.boolean(),
      roles: some("user", "assistant", "toolResult", "bashExecution", "custom", "compactionSummary"),
      tools: some("READ", "shell", "none"),
      path: fc.constantFrom("a.ts", "src", "src/b.ts", CWD, "/etc", "rc/a.ts"),
      failed: fc.boolean(),
      since: times,
      until: times,
      branch: fc.constantFrom("active", "any"),
    },
    { requiredKeys: ["query"] },
  ),
);

test("files and stores find the same as a naive search", async () => {
  const sessionDir = temporaryFolder();
  const cacheDir = temporaryFolder();
  await fc.assert(
    fc.asyncProperty(sessions, queries, async (lines, { query, ...options }) => {
      const expected = naiveSearch(lines, { query, ...options });
      put(join(sessionDir, "one.jsonl"), `${lines.join("\n")}\n`);
      const search = async (more: SearchOptions) => {
        const hits = await all(searchSessions(query, { sessionDir, ...options, ...more }));
        return hits.map(({ entryId, role, branch }) => `${entryId} ${role} ${branch}`);
      };
      expect(await search({ cache: false })).toEqual(expected);
      expect((await search({ cache: false, ranked: true })).toSorted()).toEqual(expected.toSorted());
      // Of a file that a list has found valid, lines are read without the rest.
      await listSessions({ sessionDir, cacheDir });
      expect(await search({ cacheDir })).toEqual(expected);
      await using store = memoryStore();
      await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 1_000));
      const stored = await all(store.search(query, options));
      expect(stored.map(({ entryId, role, branch }) => `${entryId} ${role} ${branch}`)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

/** Queries, each with a text that holds the word in one of its forms, as a separate word. */
const ASKED = new Map([
  ["red", "red"],
  ["greens", "green"],
  ["Evergreen", "evergreen"],
  ["Sky", "sky"],
  ["é", "é"],
  ["日本", "日本"],
  ["X", "x"],
  ["TS", "ts"],
  ["shell", "shell"],
  ["zebra", "zebra"],
]);

/** Query, and the equivalent query of the model. */
const questions = fc
  .record({
    words: fc.subarray([...ASKED.keys()], { minLength: 1, maxLength: 4 }),
    phrase: fc.constantFrom("", "", "", "blue sky", "red green", "never said"),
    filters: queries,
  })
  .map(({ words: asked, phrase, filters: { query: _, regex: _regex, caseSensitive: _case, ...filters } }) => {
    const quoted = phrase === "" ? "" : `"${phrase}"`;
    const forms = [...asked, ...phrase.split(" ")].map((word) => ASKED.get(word) ?? `(?:${word || "zebra"})`);
    const query = `(?<![a-z0-9éÉ])(?:${forms.join("|")})(?![a-z0-9éÉ])`;
    return { question: `${asked.join(" of the ")} ${quoted}?`.replace('"?', '"'), quoted, query, filters };
  });

test("files and stores answer a query with all entries that hold a word and pass the filters", async () => {
  const sessionDir = temporaryFolder();
  const caches = temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(sessions, questions, async (lines, { question, quoted, query, filters }) => {
      const held = quoted === "" ? undefined : new Set(naiveSearch(lines, { query: quoted, ...filters }));
      const expected = naiveSearch(lines, { query, regex: true, ...filters })
        .filter((hit) => held?.has(hit) !== false)
        .toSorted();
      put(join(sessionDir, "one.jsonl"), `${lines.join("\n")}\n`);
      const cacheDir = join(caches, String(runs++));
      const options = { ...filters, match: "any" as const };
      const search = async (more: SearchOptions) => {
        const hits = await all(searchSessions(question, { sessionDir, ...options, ...more }));
        for (const [i, { score, snippet, match, partial, missing }] of hits.entries()) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(hits[i - 1]?.score ?? 1);
          expect(snippet.slice(match.start, match.start + match.length)).toHaveLength(match.length);
          expect(partial === true).toBe(missing !== undefined);
          expect(missing).not.toEqual([]);
        }
        return hits.map(({ entryId, role, branch }) => `${entryId} ${role} ${branch}`);
      };
      const first = await search({ cache: false });
      expect(first.toSorted()).toEqual(expected);
      // A search for words leaves a filter, the first query a table.
      await all(searchSessions("lock", { sessionDir, cacheDir }));
      expect(await search({ cacheDir })).toEqual(first);
      expect(await search({ cacheDir })).toEqual(first);
      expect(await search({ cacheDir, limit: 2 })).toEqual(first.slice(0, 2));
      await using store = memoryStore();
      await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 1_000));
      const stored = await all(store.search(question, options));
      const found = stored.map(({ entryId, role, branch }) => `${entryId} ${role} ${branch}`);
      expect(found.toSorted()).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
