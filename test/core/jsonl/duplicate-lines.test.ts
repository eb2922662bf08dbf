import { describe, expect, it } from "vitest";
import { RepeatedLines } from "../../../src/core/jsonl/duplicate-lines.ts";
import { SpanColumns } from "../../../src/core/jsonl/line-spans.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";

/** Finds lines of one id in turn, as a reader does, and returns each result. */
function find(lines: readonly string[]): number[] {
  const bytes = new TextEncoder().encode(lines.join("\n"));
  const places = new SpanColumns();
  const repeated = new RepeatedLines(places, (offset, length) => bytes.subarray(offset, offset + length));
  let [offset, next] = [0, 0];
  return lines.map((line, i) => {
    const place = { offset, length: line.length, line: i + 1 };
    offset += line.length + 1;
    const found = i === 0 ? NONE : repeated.find("id", 0, place, next);
    if (found === NONE) places.set(next++, place.offset, place.length, place.line);
    return found;
  });
}

describe("RepeatedLines", () => {
  it("finds a line among all those of the id", () => {
    expect(find(["a", "a"])).toEqual([NONE, 0]);
    expect(find(["a", "b", "a", "b", "c", "c"])).toEqual([NONE, NONE, 0, 1, NONE, 2]);
  });

  it("ignores trailing white space", () => {
    expect(find(["a", "a \t\r", "b  ", "b"])).toEqual([NONE, 0, NONE, 1]);
    expect(find(["a", " a"])).toEqual([NONE, NONE]);
  });

  it("compares whole lines: a digest is only a hint", () => {
    // Two texts of one length with the same FNV-1a hash.
    expect(find(["6i6hf4m9", "6uutj2a6", "6i6hf4m9", "6uutj2a6"])).toEqual([NONE, NONE, 0, 1]);
  });

  it("handles 100,000 different lines of one id, each twice", () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}`);
    const found = find([...lines, ...lines]);
    expect(found.slice(100_000).every((one, i) => one === i)).toBe(true);
  });
});
