import { expect } from "vitest";
import type { SessionBackend } from "../../../src/stores/contract/session-backend.ts";

/** An entry as its line tells of it. */
export interface ReadEntry {
  readonly id: string;
  readonly parentId: string | null;
  readonly content: string;
}

/** Reads the entries of a session in the order of the database, past everything that keeps them in memory. */
export async function readEntries(backend: SessionBackend, id: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for (let [seq, isEnd] = [0, false]; !isEnd; ) {
    const page = await backend.read(id, seq, 500);
    for (const line of page.lines) {
      const record = JSON.parse(line.text);
      if (record.type === "message") {
        entries.push({ id: record.id, parentId: record.parentId, content: record.message.content });
      }
      seq = line.seq;
    }
    isEnd = page.isEnd;
  }
  return entries;
}

/** Checks that no entry is there twice, and that every one hangs on one that stands before it. */
export function expectSound(entries: readonly ReadEntry[]): void {
  const seen = new Set<string | null>([null]);
  const contents = new Set<string>();
  for (const { id, parentId, content } of entries) {
    expect(seen.has(id), `${id} is there twice`).toBe(false);
    expect(contents.has(content), `${content} is there twice`).toBe(false);
    expect(seen.has(parentId), `${id} hangs on nothing`).toBe(true);
    seen.add(id);
    contents.add(content);
  }
}

/** Gives numbers below a bound, always the same ones: what is random must fail a second time. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}
