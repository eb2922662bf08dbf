import { expect, test } from "vitest";
import { roleInFront, timeInBody } from "../../src/catalog/message-bytes.ts";
import { MessageLineReader } from "../../src/catalog/message-line.ts";
import { EntryHeadReader } from "../../src/jsonl/entry-head.ts";
import { hexValue } from "../../src/jsonl/spelled-words.ts";
import fc from "../support/fast-check.ts";
import { shareOf } from "../support/share.ts";

const RUNS = shareOf(500);

const reader = new MessageLineReader();

/** What the quick way reads of a line that stands somewhere in a piece; undefined if it leaves the line to others. */
function quickly(line: string, before = 0) {
  const bytes = Buffer.from(line);
  const piece = Buffer.concat([Buffer.alloc(before, 0x22), bytes, Buffer.from("\n")]);
  reader.look(piece);
  if (!reader.read(before, before + bytes.length)) return undefined;
  const { id, parent, role, times } = reader;
  return { id: id >>> 0, parent: parent >>> 0, role, entryMs: times[0], bodyMs: times[1] };
}

/** The same by the ways that read every spelling. */
function slowly(line: string) {
  const bytes = new TextEncoder().encode(line);
  const head = new EntryHeadReader();
  if (bytes.at(-1) !== 0x7d || !head.read(bytes, 0, bytes.length) || head.type !== "message")
    return undefined;
  const { id, parent, timestampMs: entryMs, bodyStart } = head;
  const bodyMs = timeInBody(bytes, bodyStart, bytes.length, true);
  return { id, parent, role: roleInFront(bytes, bodyStart, bytes.length), entryMs, bodyMs };
}

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
const lines = fc
  .tuple(
    ids,
    ids,
    times,
    times,
    fc.constantFrom("user", "assistant", "toolResult", "timestamp", "users"),
    contents,
    texts,
  )
  .map(([id, parentId, entry, timestamp, role, content, note]) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: new Date(entry).toISOString(),
      message: { role, content, ...(note.length > 20 && { note, model: "m" }), timestamp },
    }),
  );

test("what is read by words is what is read by bytes", () => {
  let read = 0;
  fc.assert(
    fc.property(lines, fc.nat({ max: 9 }), (line, before) => {
      const quick = quickly(line, before);
      if (quick === undefined) return;
      read++;
      expect(quick).toEqual(slowly(line));
    }),
    { numRuns: RUNS },
  );
  expect(read).toBeGreaterThan(RUNS / 4);
});

test("a line with any byte changed, dropped or put in is read alike, or left to others", () => {
  fc.assert(
    fc.property(
      lines,
      fc.nat(),
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.nat({ max: 2 }),
      (line, number, code, kind) => {
        // The front and the end are where something is looked at.
        const at =
          number % 3 === 0
            ? number % line.length
            : number % 2 === 0
              ? number % 130
              : line.length - 1 - (number % 60);
        const put = kind === 1 ? "" : String.fromCharCode(code);
        const changed = line.slice(0, at) + put + line.slice(kind === 2 ? at : at + 1);
        const quick = quickly(changed);
        if (quick !== undefined) expect(quick).toEqual(slowly(changed));
      },
    ),
    { numRuns: 10 * RUNS },
  );
});

test("what the line before spelled is taken over only where it stands again", () => {
  const line = (id: string, parentId: string, time: string, ms: number) =>
    `{"type":"message","id":"${id}","parentId":"${parentId}","timestamp":"${time}","message":{"role":"user","content":"","timestamp":${ms}}}`;
  const all = [
    line("0000000a", "00000000", "2026-01-31T23:59:59.999Z", 1_767_225_600_000),
    line("ffffffff", "0000000a", "2026-02-01T00:00:00.000Z", 1_767_225_699_999),
    line("7fffffff", "0000000a", "2026-02-01T00:01:00.001Z", 1_767_225_700_000),
    line("80000000", "7fffffff", "2026-02-30T00:01:00.001Z", 1_767_225_700_001),
    line("80000001", "80000000", "2026-02-01T24:00:00.000Z", 1_767_225_700_001),
    line("0000000A", "80000000", "2026-02-01T00:01:00.002Z", 1_767_225_700_001),
    line("\0\0\0\0\0\0\0\0", "7fffffff", "2026-02-01T00:01:00.002Z", 1_767_225_700_001),
    line("00000001", "7fffffff", "2026-02-01T00:01:60.000Z", 1_767_225_700_001),
    line("00000002", "7fffffff", "2026-02-01T00:01:59.000Z", 1_767_225_700_002),
  ];
  const read = all.map((one) => quickly(one));
  expect(read.map((one) => one !== undefined)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
  for (const [i, one] of read.entries()) if (one !== undefined) expect(one).toEqual(slowly(all[i] ?? ""));
});

test("four hexadecimal digits are worth what they write, and other bytes nothing", () => {
  const value = (text: string) => hexValue(Buffer.from(text, "latin1").readInt32BE());
  for (let n = 0; n <= 0xffff; n++) expect(value(n.toString(16).padStart(4, "0"))).toBe(n);
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte);
    if (/[0-9a-f]/.test(character)) continue;
    for (let at = 0; at < 4; at++)
      expect(value("0a9f".slice(0, at) + character + "0a9f".slice(at + 1))).toBe(-1);
  }
});
