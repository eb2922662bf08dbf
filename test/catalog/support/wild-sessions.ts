import fc from "../../support/fast-check.ts";

/** Spelling of a record and the damage to it. */
interface WildLine {
  readonly record: unknown;
  readonly spelling: "plain" | "spaced" | "padded" | "twice";
  readonly ending: "\n" | "\r\n" | "" | "\n\n";
  readonly damage: { readonly kind: "none" | "cut" | "flip" | "nul"; readonly at: number };
}

const ids = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.integer({ min: 0, max: 0xffffffff }).map((n) => n.toString(16).padStart(8, "0")),
  },
  { weight: 2, arbitrary: fc.constantFrom("00000001", "ffffffff", "a b", "é", "", "__proto__") },
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.uuid() },
);

const times = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1.7e12, max: 1.8e12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, -5, 1.5, 1e300, 123456789012345680, null, "2026-01-01", undefined),
  },
);

const isoTimes = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1.7e12, max: 1.8e12 }).map((ms) => new Date(ms).toISOString()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "never",
      1.75e12,
      undefined,
      "2026-02-03T04:05:06Z",
      "2026-02-30T00:00:00.000Z",
    ),
  },
);

const texts = fc.oneof(
  fc.constantFrom("/init", "[Request interrupted by user]", "<turn_aborted>", "Fix it", "Test it"),
  fc.constantFrom("hello", "", " ", 'say "timestamp": 5', "é\u2028🙂", "line\nbreak", `,"timestamp":"2026`),
  fc.string({ maxLength: 20 }),
);

const blocks = fc.array(
  fc.oneof(
    texts.map((text) => ({ type: "text", text })),
    fc.constant({ type: "image", data: "AAAA", mimeType: "image/png" }),
    times.map((timestamp) => ({ type: "toolCall", id: "c", name: "n", arguments: { timestamp } })),
    fc.constant({
      type: "toolCall",
      id: "c",
      name: "n",
      arguments: { a: [{ timestamp: "2026-01-01", b: 1 }, 2] },
    }),
  ),
  { maxLength: 3 },
);

const messages = fc
  .record({
    role: fc.constantFrom(
      "user",
      "assistant",
      "user",
      "assistant",
      "toolResult",
      "custom",
      "system",
      5,
      undefined,
    ),
    content: fc.oneof(texts, blocks, fc.constant(null)),
    timestamp: times,
  })
  .chain((message) =>
    fc.constantFrom<unknown>(
      message,
      message,
      message,
      { content: message.content, timestamp: message.timestamp, role: message.role },
      { ...message, responseId: "r" },
      { ...message, stopReason: "aborted" },
      null,
      "text",
    ),
  );

const bodies = fc.oneof(
  { weight: 8, arbitrary: messages.map((message) => ({ type: "message", message })) },
  {
    weight: 1,
    arbitrary: messages.map((message) => ({ type: "message", message, meta: { timestamp: 1.79e12 } })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("a", " b ", "", 5).map((name) => ({ type: "session_info", name })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("b", "", null).map((title) => ({ type: "title_change", title })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<object>(
      { type: "custom", customType: "state", data: { timestamp: "2026" } },
      { type: "compaction", summary: "s", firstKeptEntryId: "00000001", tokensBefore: 5 },
      { type: "leaf", targetId: "00000001" },
      { type: "custom_message", customType: "note", content: "<turn_aborted>", display: false },
      { type: "title", title: "t" },
      { type: "title", v: 1, title: "slot" },
      { type: "text", text: "t" },
      { data: 1 },
    ),
  },
);

const entries = fc
  .tuple(bodies, ids, ids, isoTimes, fc.constantFrom("first", "first", "first", "last", "no-parent"))
  .map(([body, id, parentId, timestamp, place]) => {
    const { type, ...rest } = { type: undefined, ...body };
    const base = place === "no-parent" ? { id, timestamp } : { id, parentId: parentId ?? null, timestamp };
    return place === "last" ? { type, ...rest, ...base } : { type, ...base, ...rest };
  });

const versions = fc.constantFrom(3, 3, 3, 3, 2, 1, undefined, "3", "1", "0.1.0", 4);

const headers = fc
  .record({
    version: versions,
    id: fc.constantFrom<unknown>("session-1", "session-1", "session-1", 5),
    timestamp: fc.constantFrom("2026-01-01T00:00:00.000Z", "never", 5, undefined),
    cwd: fc.constantFrom("/project", undefined, 5),
    parentSession: fc.constantFrom("/other.jsonl", undefined),
  })
  .map((fields) => ({ type: "session", ...fields }));

const damages = fc.oneof(
  { weight: 40, arbitrary: fc.constant({ kind: "none" as const, at: 0 }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("cut", "flip", "nul"),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
);

const endings = fc.oneof(
  { weight: 30, arbitrary: fc.constant("\n" as const) },
  { weight: 1, arbitrary: fc.constantFrom("\r\n", "", "\n\n") },
);

function lines(records: fc.Arbitrary<unknown>): fc.Arbitrary<WildLine> {
  const spelling = fc.oneof(
    { weight: 30, arbitrary: fc.constant("plain" as const) },
    { weight: 1, arbitrary: fc.constantFrom("spaced", "padded", "twice") },
  );
  return fc.record({ record: records, spelling, ending: endings, damage: damages });
}

function spell({ record, spelling, ending, damage }: WildLine): Buffer {
  const text =
    spelling === "spaced" ? JSON.stringify(record, null, " ").replace(/\n/g, " ") : JSON.stringify(record);
  const spelled = spelling === "padded" ? ` ${text} ` : spelling === "twice" ? `${text}${text}` : text;
  const bytes = Buffer.from(spelled);
  const at = Math.min(bytes.length - 1, Math.floor(damage.at * bytes.length));
  if (damage.kind === "flip") bytes[at] = (bytes[at] ?? 0) ^ 0x11;
  if (damage.kind === "nul") bytes.fill(0, at);
  return Buffer.concat([damage.kind === "cut" ? bytes.subarray(0, at) : bytes, Buffer.from(ending)]);
}

const repeats = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 2 });

/**
 * Generates files as found in practice and worse: all versions, other writers' spellings, lines that are cut, glued, repeated, or
 * overwritten, and files that are not sessions.
 */
export const wildSessions: fc.Arbitrary<Buffer> = fc
  .record({
    before: fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, fc.array(lines(entries), { maxLength: 2 })),
    head: fc.oneof({ weight: 20, arbitrary: lines(headers).map((one) => [one]) }, fc.constant([])),
    rest: fc.array(fc.oneof({ weight: 60, arbitrary: lines(entries) }, lines(headers)), { maxLength: 12 }),
    repeats: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, repeats),
    isTorn: fc.constantFrom(false, false, false, true),
    mark: fc.constantFrom("", "", "", "\ufeff"),
  })
  .map(({ before, head, rest, repeats: again, isTorn, mark }) => {
    const spelled = [...before, ...head, ...rest].map(spell);
    for (const [from, to] of again) {
      const line = spelled[from % Math.max(1, spelled.length)];
      if (line !== undefined) spelled.splice(to % (spelled.length + 1), 0, line);
    }
    const bytes = Buffer.concat([Buffer.from(mark), ...spelled]);
    return isTorn ? bytes.subarray(0, -5) : bytes;
  });

const chains = fc.array(fc.tuple(bodies, isoTimes, fc.boolean()), { maxLength: 12 }).map((made) => {
  const head = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" };
  const entries = made.map(([body, timestamp, isLast], i) => {
    const { type, ...rest } = { type: "other", ...body };
    const base = { id: makeId(i + 1), parentId: i === 0 ? null : makeId(i), timestamp };
    return isLast && type === "custom" ? { type, ...rest, ...base } : { type, ...base, ...rest };
  });
  return [head, ...entries].map((record) => `${JSON.stringify(record)}\n`);
});

function makeId(number: number): string {
  return number.toString(16).padStart(8, "0");
}

/** Generates files in good order: today's version, whole lines, unique ids, each entry a child of the previous one. */
export const healthySessions: fc.Arbitrary<Buffer> = chains.map((lines) => Buffer.from(lines.join("")));

/** Damage to a line; `at` is a position in it, from 0 to 1. */
interface Mishap {
  readonly kind: "repeat" | "change" | "drop" | "join" | "cut" | "zero" | "swap";
  readonly line: number;
  readonly to: number;
  readonly at: number;
}

const mishaps: fc.Arbitrary<Mishap> = fc.record({
  kind: fc.constantFrom("repeat", "change", "drop", "join", "cut", "zero", "swap"),
  line: fc.nat(),
  to: fc.nat(),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
});

function befall(lines: Buffer[], { kind, line, to, at }: Mishap): void {
  const number = line % lines.length;
  const bytes = lines[number] ?? Buffer.alloc(0);
  const place = Math.floor(at * bytes.length);
  const set = (...pieces: Uint8Array[]) => lines.splice(number, 1, Buffer.concat(pieces));
  const front = bytes.subarray(0, place);
  if (kind === "repeat") lines.splice(to % (lines.length + 1), 0, bytes);
  if (kind === "swap") lines.splice(to % lines.length, 0, ...lines.splice(number, 1));
  if (kind === "change") set(front, Buffer.from([to % 256]), bytes.subarray(place + 1));
  if (kind === "drop") set(front, bytes.subarray(place + 1));
  if (kind === "cut") set(front, Buffer.from("\n"));
  if (kind === "join") set(bytes.subarray(0, -1));
  if (kind === "zero") set(at < 0.5 ? bytes.subarray(0, -1) : front, Buffer.alloc(to % 4));
}

/** Generates files in good order but for one or two lines that are cut, changed, glued, repeated, or moved. */
export const nearlyHealthySessions: fc.Arbitrary<Buffer> = fc
  .tuple(chains, fc.array(mishaps, { minLength: 1, maxLength: 2 }))
  .map(([lines, all]) => {
    const spelled = lines.map((line) => Buffer.from(line));
    for (const mishap of all) befall(spelled, mishap);
    return Buffer.concat(spelled);
  });
