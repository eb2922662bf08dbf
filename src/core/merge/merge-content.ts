import { sourceOf } from "../jsonl/line-source.ts";
import { type MergeOptions, type MergeReport, planMerge } from "./merge-plan.ts";

/** The merge of two copies of a session. */
export interface MergedContent extends MergeReport {
  /** The bytes of the merged session's file. */
  readonly content: Uint8Array;
}

/**
 * Merges two diverged copies of a session in memory: all entries of both, shared ones once.
 *
 * The result does not depend on the order of the copies, nor on the order in which several are merged. Needs no file
 * system; `mergeSessions` merges files.
 *
 * @param a - The bytes of one copy's file, or its text.
 * @param b - Those of the other.
 * @throws {SessionError} `SESSIONS_DIFFER` if they are not copies of one session, `NOT_A_SESSION`, `VERSION_TOO_NEW`
 * @remarks Cost: O(bytes + n log n). Source: docs/merge.md
 */
export function mergeSessionContents(
  a: Uint8Array | string,
  b: Uint8Array | string,
  options: MergeOptions = {},
): MergedContent {
  const plan = planMerge(sourceOf(a), sourceOf(b), options);
  const encoder = new TextEncoder();
  const pieces = Array.from(plan.lines(), (line) => (typeof line === "string" ? encoder.encode(line) : line));
  const content = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    content.set(piece, at);
    at += piece.length;
  }
  return { ...plan.report(), content };
}
