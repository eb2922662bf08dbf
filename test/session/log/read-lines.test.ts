import { closeSync, openSync, truncateSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../../src/core/jsonl/decode.ts";
import { realFileSystem } from "../../../src/session/fs/file-system.ts";
import { readEntryLines } from "../../../src/session/log/read-lines.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import fc from "../../support/fast-check.ts";

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 5, arbitrary: fc.string({ unit: "binary", maxLength: 40 }).map((text) => Buffer.from(text)) },
  { weight: 5, arbitrary: fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)) },
  // Longer than gaps that are read over, and than one read.
  { weight: 1, arbitrary: fc.constantFrom(70_000, 300_000).map((length) => Buffer.alloc(length, "é")) },
  { weight: 1, arbitrary: fc.constant(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82])) },
);

function placesOf(pieces: readonly Uint8Array[]) {
  let offset = 0;
  const offsets = pieces.map(({ length }) => {
    offset += length;
    return offset - length;
  });
  return {
    offsetAt: (ordinal: number) => offsets[ordinal] ?? 0,
    lengthAt: (ordinal: number) => pieces[ordinal]?.length ?? 0,
  };
}

describe("readLinesOf", () => {
  it("returns lines as bytes or as strings, in the requested order", () => {
    const folder = sandbox();
    const pieces = fc.array(piece, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(), { maxLength: 20 }), fc.boolean(), (lines, picks, isSorted) => {
        const fd = openSync(place(folder, "lines", Buffer.concat(lines)), "r");
        try {
          const ordinals = picks.map((pick) => pick % lines.length);
          if (isSorted) ordinals.sort((a, b) => a - b);
          const expected = ordinals.map((ordinal) => Buffer.from(lines[ordinal] ?? []));
          // As strings of bytes, which compare faster than buffers.
          const bytes: string[] = [];
          readEntryLines(realFileSystem, fd, placesOf(lines), ordinals, (_, one) =>
            bytes.push(Buffer.from(one).toString("latin1")),
          );
          expect(bytes).toEqual(expected.map((one) => one.toString("latin1")));
          const texts: [number, string][] = [];
          readEntryLines(
            realFileSystem,
            fd,
            placesOf(lines),
            ordinals,
            () => expect.unreachable(),
            (...one) => texts.push(one),
          );
          expect(texts).toEqual(
            ordinals.map((ordinal, i) => [ordinal, decodeText(expected[i] ?? Buffer.of())]),
          );
        } finally {
          closeSync(fd);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("returns nothing of a file that has become shorter", () => {
    const path = place(sandbox(), "lines", "onetwo");
    const fd = openSync(path, "r");
    truncateSync(path, 5);
    const read = () =>
      readEntryLines(realFileSystem, fd, placesOf([Buffer.from("one"), Buffer.from("two")]), [0, 1], () =>
        expect.unreachable(),
      );
    expect(read).toThrow("shorter");
    closeSync(fd);
  });
});
