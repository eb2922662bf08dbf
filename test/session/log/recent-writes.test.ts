import { describe, expect, it } from "vitest";
import { MemoryLog } from "../../../src/session/log/memory-log.ts";
import { RecentWrites } from "../../../src/session/log/recent-writes.ts";
import type { LogLine } from "../../../src/session/log/session-log.ts";

const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n';

function lineOf(number: number, characters: number): LogLine {
  const id = number.toString(16).padStart(8, "0");
  const head = { type: "custom", id, parentId: null, timestampMs: number };
  const record = { type: "custom", id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
  return { head, text: JSON.stringify({ ...record, data: "x".repeat(characters) }) };
}

/** Appends lines of these lengths, and returns which of the last `last` would be restored to a file without them. */
function putBack(lengths: readonly number[], last: number): number[] | undefined {
  const before = new MemoryLog(HEADER);
  const now = new MemoryLog(HEADER);
  const recent = new RecentWrites();
  lengths.forEach((characters, i) => {
    const line = lineOf(i, characters);
    recent.add(line);
    before.append([line]);
    if (i < lengths.length - last) now.append([line]);
  });
  const { own, areOthers } = recent.missingFrom(now.index, before.index, Number.POSITIVE_INFINITY);
  return areOthers ? undefined : own.map(({ head }) => head.timestampMs);
}

describe("RecentLines", () => {
  it("keeps the last 256 KiB, at any position in the order of appends", () => {
    for (let count = 26; count < 90; count++) {
      expect(putBack(Array(count).fill(10_000), 26)).toEqual(
        Array.from({ length: 26 }, (_, i) => count - 26 + i),
      );
    }
  });

  it("releases old lines", () => {
    expect(putBack(Array(90).fill(10_000), 90)).toBeUndefined();
  });

  it("does not keep a line that would take all the room, but those around it", () => {
    expect(putBack([10, 300_000, 10], 3)).toBeUndefined();
    expect(putBack([300_000, 10, 10], 2)).toEqual([1, 2]);
  });
});
