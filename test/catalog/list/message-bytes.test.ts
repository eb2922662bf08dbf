import { describe, expect, test } from "vitest";
import { findTimeInBody, MessageBodyReader } from "../../../src/catalog/list/list-scan.ts";
import { isJsonRecord } from "../../../src/core/format/json.ts";
import { decodeRecord } from "../../../src/core/jsonl/decode.ts";
import { EntryHeadReader } from "../../../src/core/jsonl/entry-head.ts";
import fc from "../../support/fast-check.ts";
import { getMinimum } from "../../support/share.ts";

const RUNS = 500;

const bytesOf = (text: string) => new TextEncoder().encode(text);

const head = new EntryHeadReader();
const reader = new MessageBodyReader();

/** Reads the body of a line at an offset in a piece; returns undefined if it must be parsed. */
function read(line: string, before = 0) {
  const bytes = bytesOf(`${'"'.repeat(before)}${line}`);
  if (bytes.at(-1) !== 0x7d || !head.read(bytes, before, bytes.length)) return undefined;
  const ms = reader.read(bytes, head.bodyStart, bytes.length);
  return reader.role === undefined || Number.isNaN(ms) ? undefined : { role: reader.role, ms };
}

/** Parses the same values. */
function parsed(line: string) {
  const message = decodeRecord(bytesOf(line))?.["message"];
  if (!isJsonRecord(message)) return undefined;
  const { role, timestamp } = message;
  return { role: role === "user" || role === "assistant" ? role : "other", ms: timestamp };
}

describe("the time in a body", () => {
  const time = (body: string, isMessage = true) => {
    const bytes = bytesOf(`head${body}`);
    return findTimeInBody(bytes, 4, bytes.length, isMessage);
  };

  test("is read if it is the only one, in plain digits", () => {
    expect(time(',"message":{"timestamp":1700000000000}}')).toBe(1_700_000_000_000);
    expect(time(',"message":{"timestamp":5,"role":"user"}}')).toBe(5);
    expect(time(',"message":{"role":"user","content":"\\"timestamp\\":5"}}')).toBe(Number.NEGATIVE_INFINITY);
  });

  test.each([
    "1.5}",
    "-5}",
    "1e3}",
    "1700000000000000}",
    '"2026"}',
    " 5}",
    "null}",
    "}",
    "5",
    "5 }",
    '5},{"timestamp":6}',
  ])("requires a parse: %s", (value) => {
    expect(time(`,"message":{"timestamp":${value}`)).toBeNaN();
  });

  test("requires a parse if it is not a message's", () => {
    expect(time(',"data":{"timestamp":5}}', false)).toBeNaN();
    expect(time(',"data":{}}', false)).toBe(Number.NEGATIVE_INFINITY);
  });
});

test("reads a role where writers put it", () => {
  const role = (body: string) => {
    const bytes = bytesOf(body);
    reader.read(bytes, 0, bytes.length);
    return reader.role;
  };
  expect(role(',"message":{"role":"user","content":""}}')).toBe("user");
  expect(role(',"message":{"role":"assistant"}}')).toBe("assistant");
  expect(role(',"message":{"role":"toolResult"}}')).toBe("other");
  expect(role(',"message":{"role":"users"}}')).toBe("other");
  expect(role(',"message":{"role":"u"}}')).toBe("other");
  expect(role(',"message":{"content":"","role":"user"}}')).toBeUndefined();
  expect(role(',"note":1,"message":{"role":"user"}}')).toBeUndefined();
});

const ids = fc.integer({ min: 0, max: 0xffffffff }).map((n) => n.toString(16).padStart(8, "0"));
const times = fc.integer({ min: 1e12, max: 9_999_999_999_999 });
const texts = fc.oneof(
  fc.constantFrom("", "timestamp", '"timestamp"', 'say "hello"', "é🙂\n", `x","timestamp":"2026`),
  fc.string({ maxLength: 40 }),
  fc.string({ minLength: 250, maxLength: 700, size: "max" }),
  fc
    .tuple(fc.nat({ max: 600 }), fc.constantFrom('"', "\\", '\\"timestamp"'))
    .map(([n, end]) => "x".repeat(n) + end),
);
const contents = fc.oneof(
  texts,
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: texts.map((text) => ({ type: "text", text })) },
      {
        weight: 1,
        arbitrary: texts.map((text) => ({ type: "toolCall", arguments: { text, timestamp: 5 } })),
      },
      { weight: 1, arbitrary: texts.map((text) => ({ type: "toolCall", arguments: { timestamp: text } })) },
    ),
    { maxLength: 3 },
  ),
);
const roles = fc.constantFrom("user", "assistant", "toolResult", "timestamp", "users");
const lines = fc
  .tuple(ids, ids, times, times, roles, contents, texts)
  .map(([id, parentId, entry, timestamp, role, content, note]) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: new Date(entry).toISOString(),
      message: { role, content, ...(note.length > 20 && { note, model: "m" }), timestamp },
    }),
  );

test("reads the same from a body as parsing does", () => {
  let count = 0;
  fc.assert(
    fc.property(lines, fc.nat({ max: 9 }), (line, before) => {
      const found = read(line, before);
      if (found === undefined) return;
      count++;
      expect(found).toEqual(parsed(line));
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(getMinimum(RUNS / 4));
});

test("requires a parse for a body with a second time, anywhere", () => {
  fc.assert(
    fc.property(lines, texts, (line, text) => {
      const record = JSON.parse(line);
      record.message.content = [
        { type: "text", text },
        { type: "toolCall", arguments: { timestamp: 5 } },
      ];
      expect(read(JSON.stringify(record))).toBeUndefined();
      expect(read(`${line.slice(0, -1)},"more":{"timestamp":6}}`)).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
});
