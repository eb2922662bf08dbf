import { expect, test } from "vitest";
import { CallTable, type RecordedCall } from "../../../src/catalog/list/call-table.ts";
import { decodeCalls, encodeCalls } from "../../../src/catalog/list/session-calls.ts";
import fc from "../../support/fast-check.ts";

const numbers = fc.oneof(
  fc.constant(0),
  fc.nat(300),
  fc.nat(70_000),
  fc.nat(2 ** 31),
  fc.maxSafeNat(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
);
const names = fc.constantFrom(null, "a", "ä🙂\n");
const calls: fc.Arbitrary<RecordedCall> = fc
  .record({
    id: fc.oneof(
      fc.constantFrom(undefined, "", "a b", "é"),
      fc.string({ unit: "grapheme-ascii" }),
      fc.uuid(),
    ),
    timeMs: fc.oneof(fc.constant(null), fc.integer({ min: -1e14, max: 2e14 }), fc.nat(1000)),
    provider: names,
    model: names,
    input: numbers,
    output: numbers,
    cacheRead: numbers,
    cacheWrite: numbers,
    cacheWrite1h: numbers,
    reasoning: numbers,
    totalTokens: numbers,
    cost: fc.option(numbers),
  })
  .map((call) => ({ ...call, count: call.totalTokens > 0 ? 1 : 0 }));

function tableOf(list: readonly RecordedCall[]): CallTable {
  const table = CallTable.from();
  for (const call of list) table.add(call);
  return table;
}

const listOf = (table: CallTable) => Array.from({ length: table.size }, (_, i) => table.call(i));

test("reads calls back from their cached form, and appended ones too", () => {
  fc.assert(
    fc.property(fc.array(calls), fc.array(calls, { maxLength: 3 }), (list, more) => {
      const source = {
        source: "codex",
        isSubagent: true,
        frontEntries: 2,
        answering: { provider: "p", model: null },
      };
      const read = decodeCalls(encodeCalls({ ...source, calls: tableOf(list) }));
      expect(read).toMatchObject(source);
      const table = CallTable.from(read?.calls);
      expect(listOf(table)).toEqual(list);
      for (const call of more) table.add(call);
      expect(listOf(table)).toEqual([...list, ...more]);
    }),
  );
});

test("rejects any other value as a cached form", () => {
  const call = { provider: "p", model: "m", count: 1, input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
  const rest = { cacheWrite1h: 0, reasoning: 0, totalTokens: 10, cost: 0.5 };
  const list = [1, 2].map((timeMs) => ({ id: `${timeMs}`, timeMs, ...call, ...rest }));
  const whole = Buffer.from(
    encodeCalls({
      calls: tableOf(list),
      source: null,
      isSubagent: false,
      frontEntries: 3,
      answering: undefined,
    }),
  );
  expect(decodeCalls(whole)?.calls.size).toBe(2);
  const text = whole.toString("latin1");
  const changed = [
    "",
    "[]\n",
    text.slice(0, -1),
    `${text}x`,
    text.replace(",2,[[", ",1e9,[["),
    text.replace(",2,[[", ",-1,[["),
    text.replace("[8,0]", "[3,0]"),
    text.replace("[8,0]", "8"),
  ];
  for (const one of changed) expect([one, decodeCalls(Buffer.from(one, "latin1"))]).toEqual([one, undefined]);
});
