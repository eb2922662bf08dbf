import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns a generator of numbers in [0, 1) that is determined by the seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Shape of a generated session. */
export interface SessionShape {
  readonly entries: number;
  /** Bytes of text in an ordinary message. */
  readonly textBytes: number;
  /** Number of entries between compactions; 0 for none. */
  readonly compactEvery: number;
  /** Number of messages between images of 600 KB; 0 for none. */
  readonly imageEvery?: number;
  readonly seed: number;
  readonly cwd?: string;
  /** Whether `id` and `parentId` are last in each line, as in sessions that pi migrated from version 1. */
  readonly idsLast?: boolean;
}

const WORDS =
  "the agent reads a file and finds that the test fails because of a wrong path in its config\n".split(" ");
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".repeat(14_000);

/** Creates a session file, unless it exists from an earlier run. */
export function sessionFile(path: string, shape: SessionShape): string {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, "w");
  let block: string[] = [];
  for (const line of sessionLines(shape)) {
    block.push(line, "\n");
    if (block.length < 500) continue;
    writeSync(fd, block.join(""));
    block = [];
  }
  writeSync(fd, block.join(""));
  closeSync(fd);
  renameSync(temporary, path);
  return path;
}

function* sessionLines(shape: SessionShape): Generator<string> {
  const random = seededRandom(shape.seed);
  const start = Date.UTC(2026, 0, 1);
  const { cwd = "/projects/bench" } = shape;
  const id = `bench-${shape.seed}`;
  yield JSON.stringify({ type: "session", version: 3, id, timestamp: new Date(start).toISOString(), cwd });
  let parentId: string | null = null;
  for (let i = 0; i < shape.entries; i++) {
    const entryId = hexId(i);
    const ids = { id: entryId, parentId };
    const timestamp = new Date(start + i * 1000).toISOString();
    const head = shape.idsLast ? { timestamp } : { ...ids, timestamp };
    const tail = shape.idsLast ? ids : {};
    const isCompaction = shape.compactEvery > 0 && i % shape.compactEvery === shape.compactEvery - 1;
    yield JSON.stringify(
      isCompaction
        ? {
            type: "compaction",
            ...head,
            summary: text(random, 2000),
            firstKeptEntryId: parentId,
            tokensBefore: 90_000,
            ...tail,
          }
        : { type: "message", ...head, message: message(i, start, random, shape), ...tail },
    );
    parentId = entryId;
  }
}

function message(i: number, start: number, random: () => number, shape: SessionShape): object {
  const timestamp = start + i * 1000;
  const block = { type: "text", text: text(random, shape.textBytes) };
  if (shape.imageEvery && i % shape.imageEvery === 0) {
    return {
      role: "user",
      content: [block, { type: "image", data: IMAGE, mimeType: "image/png" }],
      timestamp,
    };
  }
  if (i % 2 === 0) return { role: "user", content: [block], timestamp };
  const cost = { input: 0.001, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.003 };
  const usage = { input: 900, output: 120, cacheRead: 0, cacheWrite: 0, totalTokens: 1020, cost };
  return {
    role: "assistant",
    content: [block],
    api: "bench",
    provider: "bench",
    model: "m",
    usage,
    stopReason: "stop",
    timestamp,
  };
}

function text(random: () => number, bytes: number): string {
  let text = "";
  while (text.length < bytes) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
  return text;
}

/** Returns a unique id for each number, spread over all possible ids. */
function hexId(i: number): string {
  return (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
}

/** Creates a folder of sessions of one project. */
export function sessionFolder(folder: string, sessions: number, bytes: number, seed: number): string {
  const textBytes = 1000;
  const entries = Math.max(2, Math.round(bytes / sessions / (textBytes + 300)));
  for (let i = 0; i < sessions; i++) {
    const name = `2026-01-01T00-00-00-000Z_bench-${seed + i}.jsonl`;
    sessionFile(join(folder, name), { entries, textBytes, compactEvery: 0, seed: seed + i });
  }
  return folder;
}
