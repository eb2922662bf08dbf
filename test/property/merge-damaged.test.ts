import { expect, it } from "vitest";
import { readSession } from "../../src/core/jsonl/read-session.ts";
import { mergeSessionContents } from "../../src/core/merge/merge-plan.ts";
import fc from "../support/fast-check.ts";

const HEADER =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-02-03T09:00:00.000Z","cwd":"/projects/a"}';

type Line = typeof line extends fc.Arbitrary<infer One> ? One : never;

const IDS = ["00000001", "00000002", "0000000a", "x"];

/** Line of a writer that does not check whether its id exists. */
const line = fc.record({
  id: fc.constantFrom(...IDS),
  /** Parent: the line itself, none, or a distance in lines upward. */
  parent: fc.oneof(fc.constantFrom("self" as const, null), fc.nat(5)),
  content: fc.constantFrom("a", "b"),
  second: fc.nat(2),
});
const lines = fc.array(line, { maxLength: 6 });

function fileOf(all: readonly Line[]): string {
  const written = all.map(({ id, parent, content, second }, i) => {
    const parentId = parent === "self" ? id : parent === null ? null : (all[i - 1 - parent]?.id ?? null);
    const timestamp = `2026-02-03T09:00:0${second}.000Z`;
    const message = { role: "user", content, timestamp: 1 };
    return JSON.stringify({ type: "message", id, parentId, timestamp, message });
  });
  return `${[HEADER, ...written].join("\n")}\n`;
}

/** Three copies of one file that were continued separately, all in this way. */
const copies = fc
  .tuple(lines, lines, lines, lines)
  .map(([base, ...more]) => more.map((one) => fileOf([...base, ...one])));

const decoder = new TextDecoder();
const merge = (a: string, b: string) => decoder.decode(mergeSessionContents(a, b).content);
const codes = (text: string) => readSession(text).issues.map(({ code }) => code);

it("copies with repeated ids and entries that are their own parents merge to the same bytes in any order", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(copies, ([a = "", b = "", c = ""]) => {
      const issues = [a, b, c].flatMap(codes);
      for (const code of issues) seen.add(code);
      const all = merge(merge(a, b), c);
      expect(merge(a, merge(b, c))).toBe(all);
      expect(merge(merge(c, a), b)).toBe(all);
      expect(merge(all, a)).toBe(all);
      expect(merge(merge(a, b), merge(b, c))).toBe(all);
      expect(codes(all)).toEqual([]);
    }),
    { numRuns: 700 },
  );
  expect([...seen].sort()).toEqual(["ENTRY_REPEATED", "ID_DUPLICATE", "PARENT_CYCLE"]);
});
