import { expect } from "vitest";
import type { SessionBackend } from "../../../src/stores/contract/session-backend.ts";

/** An entry as recorded in its line. */
export interface ReadEntry {
  readonly id: string;
  readonly parentId: string | null;
  readonly content: string;
}

/** Reads a session's entries in database order, bypassing every in-memory copy. */
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

/** Checks that no entry exists twice, and that each one's parent precedes it. */
export function expectSound(entries: readonly ReadEntry[]): void {
  const seen = new Set<string | null>([null]);
  const contents = new Set<string>();
  for (const { id, parentId, content } of entries) {
    expect(seen.has(id), `${id} is there twice`).toBe(false);
    expect(contents.has(content), `${content} is there twice`).toBe(false);
    expect(seen.has(parentId), `${id} has no parent`).toBe(true);
    seen.add(id);
    contents.add(content);
  }
}

/** Returns reproducible numbers below a bound: a random failure must occur again. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}
