import { SessionError } from "../format/errors.ts";
import type { SessionHeader } from "../format/header.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { splitRuns } from "../jsonl/byte-runs.ts";
import type { LineSource } from "../jsonl/line-source.ts";
import { notASession } from "../jsonl/not-a-session.ts";

/** Copy of a session: `a` is the first argument and `b` is the second. */
export type MergeSide = "a" | "b";

/** Maximum number of lines to keep in memory at a time. */
const MAX_HELD = 256;

/** Maximum number of bytes in these lines, unless one line is longer. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/**
 * Returns the header of a copy, if the copy can be merged.
 *
 * @throws {SessionError} `NOT_A_SESSION`, or `VERSION_TOO_NEW`, because an unknown version must not be rewritten.
 */
export function getMergeableHeader({ index, foreign }: LineSource, side: MergeSide): SessionHeader {
  const { header, version } = index;
  if (header === undefined || index.isRejected) {
    throw notASession(`Copy ${side}`, { side }, foreign);
  }
  if (version > CURRENT_SESSION_VERSION) {
    const message = `Copy ${side} has version ${version}, which is newer than this library supports; update sessiontree to merge it.`;
    throw new SessionError("VERSION_TOO_NEW", message, { details: { side, version } });
  }
  return header;
}

/**
 * Splits a sequence into runs whose lines fit in memory.
 *
 * @param countBytes - Returns the number of bytes in an element.
 */
export function splitRunsToHold<T>(list: Iterable<T>, countBytes: (one: T) => number): Generator<T[], void> {
  return splitRuns(list, MAX_HELD, { max: MAX_HELD_BYTES, of: countBytes });
}
