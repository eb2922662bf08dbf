import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { OPENING_STATES } from "../../../src/core/facts/opening.ts";
import type { FileSummary } from "../../../src/session/files/summary-columns.ts";
import { readColumns, toColumns } from "../../../src/session/files/summary-columns.ts";
import { readAtomicJson, writeAtomicJson } from "../../../src/session/fs/atomic-json.ts";
import { Chain, header, put } from "../../catalog/support/sessions.ts";
import fc from "../../support/fast-check.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const texts = fc.string({ unit: "binary", maxLength: 20 });
const text = fc.oneof(texts, fc.constantFrom("\ud83d", "a\ndb", "🙂é\u2028", "\ufeff"));
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });

const summaries: fc.Arbitrary<FileSummary> = fc.record({
  size: fc.nat(),
  mtimeMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
  ctimeMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
  birthtimeMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
  ino: fc.nat(),
  issueCount: fc.nat(),
  summary: fc.option(
    fc.record({
      id: text,
      cwd: text,
      parentSession: some(text),
      createdMs: some(fc.integer()),
      lastMessageMs: some(numbers.filter((n) => !Object.is(n, -0))),
      name: some(text),
      messageCount: fc.nat(),
      firstMessage: some(text.filter((one) => one !== "")),
      opening: fc.record({ text, state: fc.constantFrom(...OPENING_STATES) }),
    }),
    { nil: undefined },
  ),
  calls: fc.option(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => () => bytes),
    { nil: undefined },
  ),
  end: fc.option(fc.record({ lastId: text, tail: texts }), { nil: undefined }),
  isWhole: fc.boolean(),
});

/** Returns summaries with the given `calls`. */
function withCalls(summaries: ReadonlyMap<string, FileSummary> | undefined) {
  return Array.from(summaries ?? [], ([name, { calls, ...rest }]) => [
    name,
    rest,
    calls && [...(calls() ?? [])],
  ]);
}

const none = () => undefined;

test("summaries are unchanged after a round trip, through a file, too", async () => {
  const path = join(temporaryFolder(), "a.json");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, summaries), { maxLength: 8 }), async (all) => {
      const files = new Map(all);
      const { columns, ...beside } = toColumns(files);
      await writeAtomicJson(path, columns, beside);
      const kept = readAtomicJson(path);
      expect(kept?.text).toBe(beside.text);
      const read = readColumns(kept?.value, beside.text, kept?.bytes ?? none);
      expect(withCalls(read)).toEqual(withCalls(files));
    }),
    { numRuns: 100 },
  );
});

test("columns of another shape, or with another text, are rejected", () => {
  const summary = {
    id: "a",
    cwd: "",
    parentSession: null,
    createdMs: 1,
    lastMessageMs: null,
    name: "n",
    messageCount: 1,
    firstMessage: "hello",
    opening: { text: "hello", state: "settled" } as const,
  };
  const { columns, text: apart } = toColumns(
    new Map([
      [
        "a",
        {
          size: 1,
          mtimeMs: 2,
          ctimeMs: 5,
          ino: 3,
          issueCount: 0,
          birthtimeMs: 4,
          summary,
          calls: undefined,
          end: { lastId: "b", tail: "t" },
          isWhole: true,
        },
      ],
    ]),
  );
  expect(readColumns(columns, apart, none)?.size).toBe(1);
  expect(readColumns(columns, `${apart}x`, none)).toBeUndefined();
  const changes = {
    name: [1],
    size: ["1"],
    mtimeMs: [],
    ctimeMs: [null],
    birthtimeMs: [],
    ino: [null],
    id: [5],
    cwd: [null],
    createdMs: ["1"],
  };
  const more = {
    sessionName: [1],
    messageCount: [null],
    issueCount: ["0"],
    firstMessage: [true],
    parentSession: [1],
  };
  for (const [key, list] of Object.entries({ ...changes, ...more }))
    expect([key, readColumns({ ...columns, [key]: list }, apart, none)]).toEqual([key, undefined]);
});

test("a cache with a changed or missing byte is rebuilt", async () => {
  const [sessionDir, cacheDir] = [temporaryFolder(), temporaryFolder()];
  put(join(sessionDir, "a.jsonl"), new Chain(header()).user("first").assistant("second").text, 0);
  const list = () => listSessions({ sessionDir, cacheDir });
  const expected = await list();
  const path = join(cacheDir, readdirSync(cacheDir)[0] ?? "");
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    for (const bytes of [changed, whole.subarray(0, at)]) {
      writeFileSync(path, bytes);
      expect(readAtomicJson(path)).toBeUndefined();
    }
  }
  writeFileSync(path, whole.subarray(0, -1));
  expect(await list()).toEqual(expected);
  expect(readFileSync(path)).toEqual(whole);
});
