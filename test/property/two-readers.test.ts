import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { decodeEntryAt } from "../../src/core/jsonl/entry-body.ts";
import { LINE_BREAK } from "../../src/core/jsonl/line-scanner.ts";
import type { SessionIndex } from "../../src/core/jsonl/session-index.ts";
import { header, lines, message } from "../fault/support/sessions.ts";
import fc from "../support/fast-check.ts";
import { getMinimum, isSampled, takeSample } from "../support/share.ts";
import { indexBytes, listIssues, readAtOnce, readBody, takeSnapshot } from "./support/snapshots.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => readFileSync(join(FIXTURES, name)))
  // Every prefix of a longer one would be read in minutes.
  .filter(({ length }) => length < 8_000);

const STEPS = [1, 7, 100, 10_000];

/** Returns everything that an index holds. */
function answersOf(index: SessionIndex) {
  const { position, expectedEnd, isMidLine, isForeign, lastLineOffset, tornTail, headerSpan, tree } = index;
  return {
    ...takeSnapshot(index),
    issues: listIssues(index),
    ...{ position, expectedEnd, isMidLine, isForeign, lastLineOffset, tornTail, headerSpan },
    leaves: [...tree.leaves()],
    paths: Array.from(tree.ordinals(), (ordinal) => [...tree.path(ordinal)]),
    found: Array.from(tree.ordinals(), (ordinal) => tree.find(tree.idAt(ordinal))),
    order: [...index.spans.allInFileOrder(tree.size)],
  };
}

/** Reads bytes both ways and compares everything; returns whether nothing was unusual. */
function compareReaders(bytes: Uint8Array, stepBytes: number): boolean {
  const index = indexBytes(bytes);
  for (const _step of index.readWhole(bytes, stepBytes));
  index.end();
  const careful = readAtOnce(bytes);
  expect(index.isRejected).toBe(careful.isRejected);
  // No reader continues in a file that is not a session.
  if (careful.isRejected) return false;
  expect(answersOf(index), Buffer.from(bytes).toString()).toEqual(answersOf(careful));
  const { isOrdinary } = index;
  index.takeParsed().forEach((entry, ordinal) => {
    if (entry !== undefined) expect(entry).toEqual(readBody(careful, bytes, ordinal));
  });
  if (isOrdinary) compareContinuations(index, careful);
  return isOrdinary;
}

/** Appends own entries and those of others to both, and compares again. */
function compareContinuations(index: SessionIndex, careful: SessionIndex): void {
  const { tree, storedLeaf } = careful;
  const parentId = tree.size === 0 ? null : tree.idAt(storedLeaf);
  const own = { type: "message", id: "0wn00001", parentId, timestampMs: 1_770_109_205_000 };
  const more = new TextEncoder().encode(lines(message("0ther001", own.id, "x"), { type: "odd" }));
  for (const one of [index, careful]) {
    one.addPending(own, 100, false);
    one.addPending({ ...own, id: "0wn00002", parentId: own.id }, 50, false);
  }
  expect(answersOf(index)).toEqual(answersOf(careful));
  for (const one of [index, careful]) one.confirmPending(1);
  expect(answersOf(index)).toEqual(answersOf(careful));
  for (const one of [index, careful]) {
    one.confirmPending();
    one.feed(more);
    one.feed(LINE_BREAK);
    one.end();
  }
  expect(answersOf(index)).toEqual(answersOf(careful));
  expect(decodeEntryAt({ type: "message" }, index.tree, index.tree.size - 1, index)).toEqual(
    decodeEntryAt({ type: "message" }, careful.tree, careful.tree.size - 1, careful),
  );
}

test("every prefix of every fixture means the same to both readers", () => {
  let ordinary = 0;
  for (const [number, bytes] of files.entries()) {
    for (let end = 0; end <= bytes.length; end++) {
      if (end !== bytes.length && !isSampled(end, number)) continue;
      if (compareReaders(bytes.subarray(0, end), STEPS[end % STEPS.length] ?? 1)) ordinary++;
    }
  }
  expect(ordinary).toBeGreaterThan(getMinimum(100));
});

/** Replacements of a byte: structure, escapes, blanks, other line breaks, damage. */
const CHANGES = Buffer.from('"\\{,: \r\n\0');

/** Ordinary session with a compaction, and one without. */
const ORDINARY = [[], [1]].map((compacted) =>
  Buffer.from(
    lines(
      header(),
      message("0000000a", null, "één"),
      message("0000000b", "0000000a", "x"),
      ...compacted.map(() => ({
        ...{
          type: "compaction",
          id: "0000000c",
          parentId: "0000000b",
          timestamp: "2026-02-03T09:00:01.000Z",
        },
        ...{ summary: "So far.", firstKeptEntryId: "0000000b", tokensBefore: 1 },
      })),
      { type: "label", id: "0000000d", parentId: "0000000b", timestamp: "2026-02-03T09:00:01.000Z" },
    ),
  ),
);

test("a byte that is changed anywhere means the same to both readers", () => {
  let ordinary = 0;
  for (const [number, bytes] of [...ORDINARY, ...takeSample(files).slice(0, 8)].entries()) {
    for (let at = 0; at < bytes.length; at++) {
      for (const change of [...CHANGES, (bytes[at] ?? 0) ^ 0x20]) {
        if (!isSampled(at * 10 + (change % 10), number)) continue;
        const changed = Uint8Array.from(bytes);
        changed[at] = change;
        if (compareReaders(changed, 10_000)) ordinary++;
      }
    }
  }
  expect(ordinary).toBeGreaterThan(getMinimum(100));
});

const linesOf = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString("latin1")
    .split(/(?<=\n)/);

test("a mixture of lines of any files means the same to both readers", () => {
  const anyLine = fc.constantFrom(...[...ORDINARY, ...files].flatMap(linesOf));
  const ordinaryLine = fc.constantFrom(...ORDINARY.flatMap((bytes) => linesOf(bytes).slice(1)));
  const ordinaryHeader = fc.constantFrom(...ORDINARY.map((bytes) => linesOf(bytes)[0] ?? ""));
  const mixture = fc
    .tuple(fc.oneof(ordinaryHeader, anyLine), fc.array(fc.oneof(ordinaryLine, anyLine), { maxLength: 6 }))
    .map(([first, rest]) => Buffer.from([first, ...rest].join(""), "latin1"));
  fc.assert(
    fc.property(mixture, fc.constantFrom(...STEPS), (bytes, stepBytes) => {
      compareReaders(bytes, stepBytes);
    }),
    { numRuns: 3000 },
  );
});

test("a session that becomes large means the same in columns, with its last lines unconfirmed", () => {
  const bytes = ORDINARY[0] ?? new Uint8Array(0);
  const [index, careful] = [indexBytes(bytes), readAtOnce(bytes)];
  for (const _step of index.readWhole(bytes));
  const idOf = (i: number) => `${i.toString(16).padStart(7, "0")}z`;
  for (const one of [index, careful]) {
    for (let i = 0; i < 33_000; i++) {
      const parentId = i === 0 ? "0000000b" : idOf(i - (i % 100 === 0 ? 50 : 1));
      one.addPending({ type: "custom", id: idOf(i), parentId, timestampMs: i }, 60 + (i % 7), false);
      if (i % 1000 === 0) one.confirmPending();
    }
  }
  expect(index.isOrdinary).toBe(false);
  expect(takeSnapshot(index)).toEqual(takeSnapshot(careful));
  expect([index.position, index.expectedEnd]).toEqual([careful.position, careful.expectedEnd]);
  for (const one of [index, careful]) one.confirmPending();
  expect([index.position, index.expectedEnd]).toEqual([careful.position, careful.expectedEnd]);
});
