import { describe, expect, it } from "vitest";
import { decodeEntryAt } from "../../src/core/jsonl/entry-body.ts";
import { readSession } from "../../src/core/jsonl/read-session.ts";
import type { SessionIndex } from "../../src/core/jsonl/session-index.ts";
import { NONE } from "../../src/core/tree/entry-tree.ts";
import fc from "../support/fast-check.ts";
import { getMinimum } from "../support/share.ts";
import { hasHiddenRecord } from "./support/reference-lines.ts";
import { type ReferenceSession, readPlainly } from "./support/reference-reader.ts";
import { fraction, join, orderlyFile, sessionFile } from "./support/session-files.ts";
import {
  indexBytes,
  listIssues,
  readAtOnce,
  readBodies,
  readBody,
  takeSnapshot,
} from "./support/snapshots.ts";

const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/**
 * Whether blanks follow a line, apart from the CR of its break: a reader that checks before they arrive takes the line without
 * them.
 */
const hasLateBlanks = (bytes: Uint8Array) => /[ \t\r]\r\n|[ \t]\n/.test(text(bytes));

/** Issues about ids and parents rather than about the content of a line. */
const ABOUT_LINKS = /^(?:ENTRY_REPEATED|ID_|PARENT_)/;

/** Returns the result of an index, in the format of the reference. */
function found(index: SessionIndex, bytes: Uint8Array, reference: ReferenceSession): ReferenceSession {
  const bodies = readBodies(index, bytes);
  const { tree, spans, storedLeaf } = index;
  const names = new Map<string, string>();
  for (const [ordinal, { id }] of reference.entries.entries()) {
    if (ordinal < tree.size) names.set(tree.idAt(ordinal), /^#\d+$/.test(id) ? id : tree.idAt(ordinal));
  }
  const nameAt = (ordinal: number) => names.get(tree.idAt(ordinal)) ?? tree.idAt(ordinal);
  return {
    headerId: index.header?.id,
    version: index.version,
    entries: Array.from(tree.ordinals(), (ordinal) => {
      const parent = tree.parentAt(ordinal);
      return {
        type: tree.typeAt(ordinal),
        id: nameAt(ordinal),
        parentId: parent === NONE ? null : nameAt(parent),
        line: spans.at(ordinal).line,
        isDamaged: bodies[ordinal] === false,
      };
    }),
    leafId: storedLeaf === NONE ? null : nameAt(storedLeaf),
    links: index.issues
      .filter(({ code }) => ABOUT_LINKS.test(code))
      .map(({ code, line }) => `${code} ${line}`)
      .sort(),
    // The issue of another program's file concerns the entire file.
    oddLines: [
      ...new Set(index.issues.filter(({ code }) => code !== "FOREIGN_FORMAT").map(({ line }) => line)),
    ].sort((a, b) => a - b),
  };
}

describe("the index of heads", () => {
  it("finds in any file what a reader that parses everything finds", () => {
    fc.assert(
      fc.property(sessionFile, (bytes) => {
        const reference = readPlainly(bytes);
        const expected = { ...reference, links: [...reference.links].sort() };
        expect(found(readAtOnce(bytes), bytes, reference), text(bytes)).toEqual(expected);
      }),
      { numRuns: 2500 },
    );
  });

  it("finds the same in any chunks, also in a file that grows", () => {
    const cuts = fc.array(fc.record({ at: fraction, isEnd: fc.boolean() }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(sessionFile, cuts, (bytes, cuts) => {
        fc.pre(!hasHiddenRecord(bytes) && !hasLateBlanks(bytes));
        const index = indexBytes(bytes);
        let from = 0;
        for (const { at, isEnd } of [...cuts].sort((a, b) => a.at - b.at)) {
          const to = Math.floor(at * bytes.length);
          // The scanner may not retain a buffer that its reader reuses.
          const piece = new Uint8Array(bytes.subarray(from, to));
          index.feed(piece);
          piece.fill(0x7b);
          if (isEnd) index.end();
          from = to;
        }
        index.feed(bytes.subarray(from));
        index.end();
        const whole = readAtOnce(bytes);
        expect(takeSnapshot(index), text(bytes)).toEqual(takeSnapshot(whole));
        expect(listIssues(index), text(bytes)).toEqual(listIssues(whole));
        expect(index.position).toBe(bytes.length);
      }),
      { numRuns: 2500 },
    );
  });

  it("finds the same if every byte arrives alone, and the file is checked after each", () => {
    fc.assert(
      fc.property(sessionFile, (bytes) => {
        fc.pre(!hasHiddenRecord(bytes) && !hasLateBlanks(bytes));
        const index = indexBytes(bytes);
        for (let i = 0; i < bytes.length; i++) {
          index.feed(bytes.subarray(i, i + 1));
          index.end();
        }
        expect(takeSnapshot(index), text(bytes)).toEqual(takeSnapshot(readAtOnce(bytes)));
      }),
      { numRuns: 300 },
    );
  });

  it("finds the same if a file is read as text and others append to it, and returns the bodies that are read later", () => {
    let parsed = 0;
    let grown = 0;
    let untaken = 0;
    fc.assert(
      fc.property(
        fc.oneof(sessionFile, orderlyFile),
        fraction,
        fc.integer({ min: 1, max: 1000 }),
        fc.boolean(),
        (bytes, where, stepBytes, isAsked) => {
          fc.pre(!hasHiddenRecord(bytes));
          const index = indexBytes(bytes);
          const cut = bytes.indexOf(0x0a, Math.floor(where * bytes.length)) + 1;
          for (const _step of index.readWhole(bytes.subarray(0, cut), stepBytes));
          if (!index.isOrdinary) return;
          const { tree: quick } = index;
          expect(takeSnapshot(index)).toEqual(takeSnapshot(readAtOnce(bytes.subarray(0, cut))));
          expect(index.isOrdinary).toBe(true);
          parsed++;
          const before = readAtOnce(bytes.subarray(0, cut));
          expect(listIssues(before)).toEqual([]);
          expect(index.lastLineOffset).toBe(before.lastLineOffset);
          expect([quick.size, index.storedLeaf]).toEqual([before.tree.size, before.storedLeaf]);
          const path = quick.path(index.storedLeaf);
          expect(path).toEqual(before.tree.path(before.storedLeaf));
          for (const ordinal of path) {
            const { type, id, parentId } = before.tree.headAt(ordinal);
            expect(quick.headAt(ordinal)).toEqual(before.tree.headAt(ordinal));
            expect(quick.isHeadAt(ordinal, type, id, parentId)).toBe(true);
            expect([quick.find(id), quick.idAt(ordinal), quick.typeAt(ordinal)]).toEqual([ordinal, id, type]);
            expect(quick.hasType(type)).toBe(true);
            expect(index.spans.offsetAt(ordinal)).toBe(before.spans.offsetAt(ordinal));
            expect(index.spans.lengthAt(ordinal)).toBe(before.spans.lengthAt(ordinal));
          }
          const entries = isAsked ? index.takeParsed() : [];
          for (const [ordinal, entry] of entries.entries())
            if (entry !== undefined) expect(entry).toEqual(readBody(before, bytes, ordinal));

          index.feed(bytes.subarray(cut));
          index.end();
          const heads = readAtOnce(bytes);
          if (heads.tree.size > before.tree.size) grown++;
          expect(takeSnapshot(index), text(bytes)).toEqual(takeSnapshot(heads));
          expect(listIssues(index), text(bytes)).toEqual(listIssues(heads));
          for (const [ordinal, record] of index.takeParsed().entries()) {
            if (record === undefined) continue;
            expect(decodeEntryAt(record, index.tree, ordinal, index)).toEqual(
              readBody(heads, bytes, ordinal),
            );
            untaken++;
          }
        },
      ),
      { numRuns: 6000 },
    );
    expect(parsed).toBeGreaterThan(getMinimum(500));
    expect(grown).toBeGreaterThan(getMinimum(100));
    expect(untaken).toBeGreaterThan(getMinimum(100));
  });

  it("reads arbitrary bytes without an exception, and reports all of them", () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(sessionFile, fc.uint8Array({ maxLength: 50 }), sessionFile).map((pieces) => join(pieces)),
    );
    fc.assert(
      fc.property(anything, (bytes) => {
        const { header, entries, issues } = readSession(bytes);
        const lines = new Set(issues.map(({ line }) => line));
        const written = text(bytes).split("\n");
        for (const [i, line] of written.entries()) {
          const isBlank = /^[ \t\r\uFEFF]*$/.test(line);
          const isKnown = isBlank || lines.has(i + 1) || header !== undefined;
          expect(isKnown, `line ${i + 1} of ${JSON.stringify(text(bytes))}`).toBe(true);
        }
        expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      }),
      { numRuns: 2500 },
    );
  });
});
