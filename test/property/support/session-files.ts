import fc from "../../support/fast-check.ts";

/** Line before it is encoded. */
type Fields = { readonly [name: string]: unknown };

/** Ids of every kind; few, so that they collide. */
const IDS = [
  "00000001",
  "0000000a",
  "deadbeef",
  "DEADBEEF",
  "0194d0a1-7c3e-7b52-9d0e-5a3f0c1b2d4e",
  "__proto__",
  "constructor",
  "toString",
  'with "quotes"',
  "ünï ☃",
  "a\\b",
  "",
] as const;

const makeId = (n: number) => n.toString(16).padStart(8, "0");
const anyId = fc.constantFrom(...IDS);
const words = fc.constantFrom(
  "hello",
  "a } b { c",
  'say "hi"',
  "}{",
  "ünï\u2028☃",
  '{"type":"label"}',
  "\\",
  "",
);

const message = fc.oneof(
  words.map((content) => ({ role: "user", content, timestamp: 1770109200000 })),
  fc.tuple(words, anyId).map(([text, id]) => ({
    role: "assistant",
    content: [
      { type: "text", text },
      { type: "toolCall", id, name: "read", arguments: { path: text, id, message: { id } } },
    ],
    timestamp: 1770109200000,
  })),
  words.map((text) => ({ role: "hookMessage", content: [{ type: "text", text }] })),
);

const body: fc.Arbitrary<Fields> = fc.oneof(
  { weight: 6, arbitrary: message.map((one) => ({ type: "message", message: one })) },
  { weight: 1, arbitrary: anyId.map((targetId) => ({ type: "label", targetId, label: "here" })) },
  { weight: 1, arbitrary: words.map((name) => ({ type: "session_info", name })) },
  { weight: 1, arbitrary: fc.constant({ type: "model_change", provider: "acme", modelId: "acorn" }) },
  {
    weight: 1,
    arbitrary: words.map((data) => ({ type: "custom", customType: "x", data: { data, list: [{}] } })),
  },
  {
    weight: 1,
    arbitrary: words.map((content) => ({ type: "custom_message", customType: "x", content, display: true })),
  },
  {
    weight: 1,
    arbitrary: fc.constant({ type: "compaction", summary: "s", firstKeptEntryIndex: 1, tokensBefore: 9 }),
  },
  { weight: 1, arbitrary: anyId.map((targetId) => ({ type: "leaf", targetId })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("__proto__", "constructor", "text", "title").map((type) => ({ type })),
  },
  { weight: 1, arbitrary: fc.constant({ type: "message" }) },
);

/** Parent of an entry; a number counts back from the entry itself, and below 0 forward. */
const parent = fc.oneof(
  { weight: 12, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.integer({ min: -4, max: 6 }) },
  { weight: 1, arbitrary: anyId },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
  { weight: 1, arbitrary: fc.constantFrom("nowhere", 5.5, true, { id: "x" }) },
);

const entry = fc.record({
  body,
  parent,
  id: fc.oneof(
    { weight: 12, arbitrary: fc.constant("own") },
    { weight: 3, arbitrary: anyId },
    { weight: 1, arbitrary: fc.constantFrom(undefined, 7) },
  ),
  timestamp: fc.oneof(
    { weight: 9, arbitrary: fc.constant("2026-02-03T09:00:00.000Z") },
    { weight: 1, arbitrary: fc.constantFrom("1970-01-01T00:00:00.000Z", "yesterday", "") },
  ),
  spelling: fc.oneof(
    { weight: 8, arbitrary: fc.constant("usual") },
    { weight: 2, arbitrary: fc.constantFrom("head behind", "spaced", "time as number", "shuffled") },
  ),
});

const header = fc.record({
  version: fc.constantFrom<unknown>(3, 3, 3, 3, 2, 1, undefined, "3", "0.1.0", 4),
  id: fc.constant("0194d0a1-0000-7000-8000-000000000000"),
});

/** Keys of the entries in a file: as usual, none, ids only. */
const keys = fc.oneof(
  { weight: 8, arbitrary: fc.constant("all") },
  { weight: 1, arbitrary: fc.constantFrom("no parents", "neither") },
);

function spell(
  { spelling, body: { type, ...rest }, timestamp }: Spelled,
  id: unknown,
  parentId: unknown,
): string {
  const isMessage = type === "message";
  // A reader of heads does not search for a time as a number after the rest of a torn line.
  const time = spelling === "time as number" && isMessage ? 1770109200000 : timestamp;
  const ids = { ...(id !== undefined && { id }), ...(parentId !== undefined && { parentId }) };
  if (spelling === "head behind") return JSON.stringify({ type, ...rest, ...ids, timestamp: time });
  if (spelling === "shuffled") return JSON.stringify({ timestamp: time, ...ids, type, ...rest });
  const fields = { type, ...ids, timestamp: time, ...rest };
  return spelling === "spaced" ? spaced(fields) : JSON.stringify(fields);
}

interface Spelled {
  readonly body: Fields;
  readonly timestamp: string;
  readonly spelling: string;
}

/** Encodes JSON with a space after colons and commas, as other languages do. */
function spaced(fields: Fields): string {
  return JSON.stringify(fields, null, 1).replace(/\n */g, " ");
}

/** Lines of a file in which every line is valid; ids and parents are arbitrary. */
const lines = fc
  .record({
    header,
    keys,
    entries: fc.array(entry, { maxLength: 14, size: "max" }),
    title: fc.nat(9),
    again: fc.nat(60),
    kind: fc.nat(30),
  })
  .map(({ header: { id, version }, keys, entries, title, again, kind }) => {
    const head = {
      type: "session",
      ...(version !== undefined && { version }),
      id,
      timestamp: "2026-02-03T09:00:00.000Z",
      cwd: "/x",
      ...(kind === 0 && { kind: "other" }),
    };
    const ids = entries.map((one, i) => (one.id === "own" ? makeId(i + 0x100) : one.id));
    const spelled = entries.map((one, i) => {
      const parentId =
        typeof one.parent === "number" && Number.isInteger(one.parent)
          ? (ids[i - one.parent] ?? null)
          : one.parent;
      return spell(one, keys === "neither" ? undefined : ids[i], keys === "all" ? parentId : undefined);
    });
    const all = [JSON.stringify(head), ...spelled];
    if (title === 0) all.unshift('{"type":"title","title":"x"}');
    if (again < all.length) all.splice(again, 0, JSON.stringify(head));
    return all;
  });

/** Position as a fraction, uniformly distributed: by default, fast-check would damage the same few bytes. */
export const fraction: fc.Arbitrary<number> = fc
  .noBias(fc.integer({ min: 0, max: 99_999 }))
  .map((n) => n / 100_000);

/** Change of a file. */
const mishap = fc.record({
  kind: fc.constantFrom(
    "flip",
    "cut",
    "glue",
    "repeat",
    "swap",
    "zeros",
    "noise",
    "blank",
    "return",
    "torn end",
    "mark",
  ),
  at: fraction,
  within: fraction,
  byte: fc.nat(255),
});

type Mishap = typeof mishap extends fc.Arbitrary<infer T> ? T : never;

/** File, valid or not. */
export const sessionFile: fc.Arbitrary<Uint8Array> = fc
  .record({ lines, mishaps: fc.array(mishap, { maxLength: 5, size: "max" }) })
  .map(({ lines, mishaps }) => mishaps.reduce(happen, new TextEncoder().encode(`${lines.join("\n")}\n`)));

/** File with valid lines only. */
export const orderlyFile: fc.Arbitrary<Uint8Array> = lines.map((all) =>
  new TextEncoder().encode(`${all.join("\n")}\n`),
);

const NOISE = [
  "42",
  "[]",
  "null",
  '{"a":1}',
  "what?",
  '{"type":"text","text":"a"}]}',
  '"timestamp":"2026"}}',
  '{"type":"mess',
];

function happen(bytes: Uint8Array, { kind, at, within, byte }: Mishap): Uint8Array {
  if (kind === "flip") {
    const flipped = new Uint8Array(bytes);
    flipped[Math.floor(at * bytes.length)] = byte;
    return flipped;
  }
  const rows = split(bytes);
  const i = Math.floor(at * rows.length);
  const row = rows[i] ?? new Uint8Array(0);
  const inside = Math.floor(within * row.length);
  const zeros = new Uint8Array(1 + (byte % 5));
  const noise = new TextEncoder().encode(NOISE[byte % NOISE.length]);
  const lineBreak = new Uint8Array([0x0a]);
  const changed: Record<Mishap["kind"], () => Uint8Array[]> = {
    flip: () => [row],
    cut: () => [row.subarray(0, inside), lineBreak],
    glue: () => [row.subarray(0, byte < 128 ? row.length - 1 : inside)],
    repeat: () => [row, row],
    swap: () => [rows[i + 1] ?? lineBreak, row],
    zeros: () =>
      byte < 80
        ? [zeros, row]
        : byte < 160
          ? [row.subarray(0, -1), zeros, lineBreak]
          : [row.subarray(0, inside), zeros],
    noise: () => (byte < 128 ? [noise, lineBreak, row] : [row.subarray(0, -1), noise, lineBreak]),
    blank: () => [lineBreak, new TextEncoder().encode(" \t\r\n"), row],
    return: () => [row.subarray(0, -1), new TextEncoder().encode("\r\n")],
    "torn end": () => [row],
    mark: () => [row],
  };
  const next = rows.flatMap((one, n) =>
    n === i ? changed[kind]() : kind === "swap" && n === i + 1 ? [] : [one],
  );
  const all = join(kind === "mark" ? [new Uint8Array([0xef, 0xbb, 0xbf]), ...next] : next);
  return kind === "torn end" ? all.subarray(0, Math.ceil(all.length - within * 300)) : all;
}

/** Splits a file into lines with their line breaks. */
function split(bytes: Uint8Array): Uint8Array[] {
  const rows: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const next = end === -1 ? bytes.length : end + 1;
    rows.push(bytes.subarray(start, next));
    start = next;
  }
  return rows;
}

export function join(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
