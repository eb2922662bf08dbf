import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CatalogRun } from "../../../src/catalog/list/catalog-run.ts";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { searchSessions } from "../../../src/catalog/search/search.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { all, Chain, header, joinLines, put } from "../support/sessions.ts";

/** Creates a folder with one session, listed with a cache. */
async function listed(content: string) {
  const scope = { sessionDir: temporaryFolder(), cacheDir: temporaryFolder() };
  const path = put(join(scope.sessionDir, "a.jsonl"), content);
  await listSessions(scope);
  const append = async (text: string) => {
    appendFileSync(path, text);
    await listSessions(scope);
  };
  return { scope, append };
}

async function isInOrder(scope: { sessionDir: string; cacheDir: string }): Promise<boolean | undefined> {
  const run = await CatalogRun.start(scope);
  const [file] = run.files;
  return file && run.isInOrder(file, file);
}

const ordinary = () => new Chain().user("needle").assistant("hay").user("needle again");

test("a file is known to be in order after it was listed, as long as it is unchanged", async () => {
  const { scope } = await listed(ordinary().text);
  expect(await isInOrder(scope)).toBe(true);
  expect(await isInOrder({ ...scope, cacheDir: temporaryFolder() })).toBe(false);
  const run = await CatalogRun.start(scope);
  const [file] = run.files;
  expect(file && run.isInOrder(file, { ...file, size: file.size + 1 })).toBe(false);
  expect(file && run.isInOrder(file, { ...file, mtimeMs: file.mtimeMs + 1 })).toBe(false);
});

const { records } = ordinary();
const [first = {}, ...entries] = records;

test.each([
  ["with a line that is none", `${joinLines([first])}{"type":"mess\n${joinLines(entries)}`],
  ["with an id that two entries have", joinLines([...records, { ...entries[0], timestamp: "2026-02-02" }])],
  ["of version 1", joinLines([header({ version: 1 }), ...entries])],
  ["of version 2", joinLines([header({ version: 2 }), ...entries])],
  ["without a line break at its end", joinLines(records).trimEnd()],
  ["that is not a session", joinLines(entries)],
])("a file %s is not", async (_, content) => {
  expect(await isInOrder((await listed(content)).scope)).toBe(false);
});

test("a file that was continued is not, since an appended entry may have the id of an earlier one", async () => {
  const chain = ordinary();
  const { scope, append } = await listed(chain.text);
  const second = {
    type: "message",
    id: Chain.id(1),
    parentId: chain.lastId,
    timestamp: "2026-02-02T00:00:00.000Z",
  };
  const message = { role: "user", content: "a second needle", timestamp: 5 };
  await append(joinLines([{ ...second, message }]));
  expect(await isInOrder(scope)).toBe(false);
  const hits = await all(searchSessions("needle", scope));
  const anew = await all(searchSessions("needle", { ...scope, cache: false }));
  expect(hits.map((hit) => [hit.entryId, hit.offset])).toEqual(anew.map((hit) => [hit.entryId, hit.offset]));
  expect(new Set(hits.map((hit) => hit.entryId)).size).toBe(3);
});

test("a search of a file in order finds the same as one that reads it into its tree", async () => {
  const large = new Chain();
  for (let i = 0; i < 200; i++)
    large.user(`${i % 7 === 0 ? "needle" : "hay"} ${"x".repeat(20_000)}`).assistant("é");
  const { scope } = await listed(large.text.replaceAll("\n", "\r\n"));
  expect(await isInOrder(scope)).toBe(true);
  for (const options of [{}, { roles: ["user"] }, { caseSensitive: true }, { limit: 5 }]) {
    const hits = await all(searchSessions("Needle", { ...scope, ...options }));
    expect(hits).toEqual(await all(searchSessions("Needle", { ...scope, ...options, cache: false })));
    expect(hits.length).toBe("caseSensitive" in options ? 0 : "limit" in options ? 5 : 29);
  }
});
