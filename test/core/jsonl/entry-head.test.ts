import { describe, expect, it } from "vitest";
import { fromIdKey, toIdKey } from "../../../src/core/format/id-key.ts";
import { EntryHeadReader, mayHoldSecondHead } from "../../../src/core/jsonl/entry-head.ts";
import fc from "../../support/fast-check.ts";
import { getMinimum } from "../../support/share.ts";

const TIME = "2026-02-03T22:52:06.410Z";
const bytesOf = (text: string) => new TextEncoder().encode(text);

const headLine = (fields: object = {}, type = "message") =>
  JSON.stringify({ type, id: "0000000a", parentId: "0000000b", timestamp: TIME, ...fields });

function read(text: string): EntryHeadReader | undefined {
  const bytes = bytesOf(text);
  const reader = new EntryHeadReader();
  return reader.read(bytes, 0, bytes.length) ? reader : undefined;
}

/** Returns the time that the reader finds; undefined if it leaves the line to JSON.parse. */
const millisOf = (timestamp: string) => read(headLine({ timestamp }))?.timestampMs;

const id = fc.oneof(
  fc.stringMatching(/^[0-9a-f]{8}$/),
  fc.uuid(),
  fc.constantFrom("__proto__", "A0000000", "0000000A", "", "é", 'q"', "b\\", "\u2028", "x".repeat(300)),
  fc.string({ maxLength: 9 }),
);
const timestamp = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    "",
    "never",
    "2026-02-03",
    "2026-02-03T22:52:06Z",
    "2026-02-03T22:52:06.410+01:00",
    5,
    null,
  ),
);
const type = fc.constantFrom(
  "message",
  "custom",
  "custom_message",
  "compaction",
  "label",
  "usage",
  "session",
  "ne\nw",
);
const fields = fc.record({ type, id, parentId: fc.option(id), timestamp });

/** Encodes a record with its keys in the given order, with blanks, or with each character of a text escaped. */
function spell(record: object, order: readonly string[], blank: string, isEscaped: boolean): string {
  const scalar = (value: unknown) => {
    const json = JSON.stringify(value);
    if (!isEscaped || typeof value !== "string") return json;
    const units = Array.from({ length: value.length }, (_, i) =>
      value.charCodeAt(i).toString(16).padStart(4, "0"),
    );
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
  };
  const parts = order.map((key) => `${JSON.stringify(key)}:${blank}${scalar(Reflect.get(record, key))}`);
  return `{${parts.join(`,${blank}`)}}`;
}

describe("EntryHeadReader", () => {
  it.each([
    "message",
    "custom_message",
    "custom",
    "compaction",
    "model_change",
    "thinking_level_change",
    "label",
    "branch_summary",
    "session_info",
    "usage",
    "context_edit",
  ])("reads the head of a %s as JSON.stringify spells it", (known) => {
    const line = headLine({ body: { id: "other", parentId: null } }, known);
    const reader = read(line);
    expect(reader).toMatchObject({ type: known, id: 10, parent: 11, timestampMs: Date.parse(TIME) });
    expect(line.slice(reader?.bodyStart)).toBe(',"body":{"id":"other","parentId":null}}');
  });

  it("reads roots, heads without a body, and ids of other kinds", () => {
    expect(read(headLine({ parentId: null }))).toMatchObject({ parent: null, bodyStart: expect.any(Number) });
    expect(read(headLine({ id: "__proto__", parentId: "A0000000" }))).toMatchObject({
      id: "__proto__",
      parent: "A0000000",
    });
  });

  it.each([
    ["blanks", `{"type": "message","id":"0000000a","parentId":null,"timestamp":"${TIME}"}`],
    ["another order", `{"id":"0000000a","type":"message","parentId":null,"timestamp":"${TIME}"}`],
    ["no parentId", `{"type":"message","id":"0000000a","timestamp":"${TIME}"}`],
    ["an escaped id", `{"type":"message","id":"\\u0061","parentId":null,"timestamp":"${TIME}"}`],
    ["an empty id", `{"type":"message","id":"","parentId":null,"timestamp":"${TIME}"}`],
    ["a numeric time", `{"type":"message","id":"0000000a","parentId":null,"timestamp":17}`],
    ["an unknown type", headLine({}, "new")],
    ["a header", headLine({}, "session")],
    ["a head that is torn", headLine().slice(0, -1)],
    ["text after the end", `${headLine()}x`],
    ["an empty line", ""],
  ])("leaves a line with %s to JSON.parse", (_name, line) => {
    expect(read(line)).toBeUndefined();
  });

  it("agrees with JSON.parse on everything it reads, in any spelling", () => {
    const keys = ["type", "id", "parentId", "timestamp"];
    const order = fc.oneof(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: 3 }));
    const spelling = fc.tuple(fields, order, fc.constantFrom("", "", " "), fc.boolean());
    let wasRead = 0;
    fc.assert(
      fc.property(spelling, ([record, ...how]) => {
        const line = spell(record, ...how);
        const reader = read(line);
        if (reader === undefined) return;
        wasRead++;
        const parsed: unknown = JSON.parse(line);
        expect(parsed).toEqual({
          type: reader.type,
          id: fromIdKey(reader.id),
          parentId: reader.parent === null ? null : fromIdKey(reader.parent),
          timestamp: record.timestamp,
        });
        expect(reader.timestampMs).toBe(Date.parse(String(record.timestamp)));
      }),
      { numRuns: 2000 },
    );
    expect(wasRead).toBeGreaterThan(getMinimum(100));
  });

  it("reads any usual line up to the body", () => {
    const plainId = fc.oneof(
      fc.stringMatching(/^[0-9a-f]{8}$/),
      fc.uuid(),
      fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
    );
    fc.assert(
      fc.property(
        plainId,
        fc.option(plainId),
        fc.date({ noInvalidDate: true }),
        fc.jsonValue(),
        (own, parentId, date, body) => {
          const line = headLine({ id: own, parentId, timestamp: date.toISOString(), message: body });
          const reader = read(line);
          expect(reader).toMatchObject({
            id: toIdKey(own),
            parent: parentId === null ? null : toIdKey(parentId),
            timestampMs: date.getTime(),
          });
          expect(line.slice(reader?.bodyStart)).toBe(`,"message":${JSON.stringify(body)}}`);
        },
      ),
    );
  });

  it("reads a line in the middle of a buffer as if it were alone, wherever it is cut", () => {
    const line = bytesOf(headLine({ message: { role: "user" } }));
    for (let end = 0; end <= line.length; end++) {
      const cut = line.subarray(0, end);
      const buffer = Uint8Array.of(0x22, 0x7b, ...cut, 0x2c, ...line);
      const [alone, inside] = [new EntryHeadReader(), new EntryHeadReader()];
      const answer = alone.read(cut.slice(), 0, end);
      expect([end, inside.read(buffer, 2, 2 + end)]).toEqual([end, answer]);
      if (answer) expect(inside.bodyStart - 2).toBe(alone.bodyStart);
    }
  });

  describe("of a timestamp", () => {
    it("returns the result of Date.parse, on any day", () => {
      const two = fc.nat({ max: 99 }).map((part) => String(part).padStart(2, "0"));
      const ordinary = (min: number, max: number) =>
        fc.integer({ min, max }).map((part) => String(part).padStart(2, "0"));
      const part = (min: number, max: number) => fc.oneof({ weight: 9, arbitrary: ordinary(min, max) }, two);
      const spelled = fc
        .tuple(
          fc.nat({ max: 9999 }),
          part(1, 12),
          part(1, 31),
          part(0, 24),
          part(0, 60),
          part(0, 60),
          fc.nat({ max: 999 }),
        )
        .map(
          ([y, mo, d, h, mi, s, ms]) =>
            `${String(y).padStart(4, "0")}-${mo}-${d}T${h}:${mi}:${s}.${String(ms).padStart(3, "0")}Z`,
        );
      fc.assert(
        fc.property(spelled, (text) => {
          expect(millisOf(text)).toBe(Date.parse(text));
        }),
        { numRuns: 5000 },
      );
    });

    it.each([
      "2024-02-29T00:00:00.000Z",
      "2023-02-29T00:00:00.000Z",
      "2000-02-29T23:59:59.999Z",
      "1900-02-29T00:00:00.000Z",
      "2024-02-30T00:00:00.000Z",
      "2024-04-31T00:00:00.000Z",
      "2024-00-10T00:00:00.000Z",
      "2024-13-10T00:00:00.000Z",
      "2024-01-00T00:00:00.000Z",
      "2024-01-01T24:00:00.000Z",
      "2024-01-01T24:00:00.001Z",
      "2024-01-01T23:60:00.000Z",
      "2024-01-01T23:59:60.000Z",
      "0000-01-01T00:00:00.000Z",
      "0099-12-31T00:00:00.000Z",
      "1969-12-31T23:59:59.999Z",
      "2024-01-01t00:00:00.000z",
      "2024-01-01T00:00:00.0a0Z",
      "2024-01-01T00:00:00,000Z",
      "not a date of any kind...",
      "+275760-09-13T00:00:00.000Z",
    ])("reads %s as Date.parse does", (text) => {
      // One day before and one day after: the cache of one must not affect the next.
      expect(millisOf(TIME)).toBe(Date.parse(TIME));
      expect(millisOf(text)).toBe(Date.parse(text));
      expect(millisOf(TIME)).toBe(Date.parse(TIME));
    });
  });
});

describe("mayHoldSecondHead", () => {
  const holds = (text: string, isMixed: boolean) => {
    const bytes = bytesOf(text);
    const reader = new EntryHeadReader();
    expect(reader.read(bytes, 0, bytes.length)).toBe(true);
    return mayHoldSecondHead(bytes, reader, bytes.length, isMixed);
  };

  it.each([false, true])(
    "detects a record that follows, but not one in a text, nor a message's own time",
    (isMixed) => {
      expect(holds(headLine({ message: { timestamp: 17 } }), isMixed)).toBe(false);
      expect(holds(headLine({ message: { content: headLine(), timestamp: 17 } }), isMixed)).toBe(false);
      expect(holds(`${headLine({ message: {} })}${headLine()}`, isMixed)).toBe(true);
      expect(holds(`${headLine({ message: { timestamp: 17 } })}${headLine()}`, isMixed)).toBe(true);
    },
  );

  it("detects a head in any spelling if spellings are mixed", () => {
    const glued = `${headLine({ message: { timestamp: 17 } })}{"timestamp" : 5, "type":"label"}`;
    expect(holds(glued, true)).toBe(true);
    expect(holds(headLine({ data: { timestamp: 17 } }, "custom"), true)).toBe(true);
  });
});
