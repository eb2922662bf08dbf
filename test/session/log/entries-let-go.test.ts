import { describe, expect, test } from "vitest";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { EntryCache } from "../../../src/session/log/entry-cache.ts";
import { FileLog } from "../../../src/session/log/file-log.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import { DAMAGED, header, lines, message } from "../../fault/support/sessions.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";

const MEGABYTES = 24;

function open(content: string): { cache: EntryCache; reads: number[] } {
  const log = FileLog.open(place(sandbox(), "s.jsonl", content));
  if (log === undefined) throw new Error("no log");
  const reads: number[] = [];
  const readLines = log.readLines.bind(log);
  log.readLines = (ordinals, take, takeText) => {
    const wanted = [...ordinals];
    reads.push(...wanted);
    readLines(wanted, take, takeText);
  };
  return { cache: new EntryCache(log), reads };
}

/** Creates more entries than are kept, in lines of a megabyte. */
const large = () =>
  lines(
    header(),
    ...Array.from({ length: MEGABYTES }, (_, i) =>
      message(`000000${10 + i}`, null, `${i} ${"x".repeat(1024 * 1024)}`),
    ),
  );

const all = Array.from({ length: MEGABYTES }, (_, i) => i);

const messageOf = (entry: AnySessionEntry | undefined) =>
  entry !== undefined && "message" in entry ? entry.message : undefined;

describe("released entries", () => {
  test("are the same objects while referenced, and the latest longer", async () => {
    const { cache, reads } = open(large());
    let given: AnySessionEntry[] | undefined = cache.entriesAt(all);
    const held = given[1];
    given = undefined;
    await collectGarbage();
    expect(cache.entryAt(1)).toBe(held);
    cache.entryAt(MEGABYTES - 1);
    expect(reads).toEqual(all);
    expect(cache.entryAt(0)).toMatchObject({ id: "00000010" });
    expect(reads).toEqual([...all, 0]);
  });

  test("are read again around a message that is still referenced", async () => {
    const { cache, reads } = open(large());
    let given: AnySessionEntry[] | undefined = cache.entriesAt(all);
    const messages = [messageOf(given[0]), messageOf(given[2])];
    given = undefined;
    await collectGarbage();
    const again = cache.entriesAt([2, 1, 0]);
    expect(reads).toEqual([...all, 2, 1, 0]);
    expect(again.map(({ id }) => id)).toEqual(["00000012", "00000011", "00000010"]);
    expect([messageOf(again[2]), messageOf(again[0])]).toEqual(messages);
    expect(messageOf(again[2])).toBe(messages[0]);
    expect(messageOf(again[0])).toBe(messages[1]);
    expect(cache.entryAt(0)).toBe(again[2]);
  });

  test("move to another cache around a message that is still referenced", async () => {
    const path = place(sandbox(), "s.jsonl", large());
    const log = FileLog.open(path);
    const copy = FileLog.open(path);
    if (log === undefined || copy === undefined) throw new Error("no log");
    const before = new EntryCache(log);
    let given: AnySessionEntry[] | undefined = before.entriesAt(all);
    const held = messageOf(given[0]);
    given = undefined;
    await collectGarbage();
    const cache = new EntryCache(copy);
    cache.adopt(before, log.index.tree);
    expect(messageOf(cache.entryAt(0))).toBe(held);
  });

  test("are one object for an ordinal requested twice at the same time", () => {
    const { cache } = open(DAMAGED);
    const entries = cache.entriesAt([2, 1, 2, 0, 1]);
    expect(entries).toHaveLength(5);
    expect(entries[2]).toBe(entries[0]);
    expect(entries[4]).toBe(entries[1]);
    expect(cache.entriesAt(new Int32Array([1, 0]))).toEqual([entries[1], entries[3]]);
  });
});
