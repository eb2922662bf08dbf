import type { SessionIndex } from "../reading/session-index.ts";
import { type FileSystem, readRange } from "./file-system.ts";

/** Enough of a line to hold its id and time, by which it differs from every other. */
const SEAL_BYTES = 256;

/**
 * The beginning of a file's last line, by which the file is known again.
 *
 * Size and number of a file do not tell everything: other programs rewrite files in place, the system gives a deleted
 * file's number to the next one, and a writer that failed cuts its torn line off and writes another in its place.
 */
export interface FileSeal {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Takes the seal of what an index has read of a file. */
export function takeSeal(fs: FileSystem, fd: number, index: SessionIndex): FileSeal {
  const offset = lastLineOffset(index);
  const length = Math.min(SEAL_BYTES, Math.max(0, index.position - offset));
  return { offset, bytes: readRange(fs, fd, offset, length) };
}

/** Tells whether what was sealed still stands where it stood. */
export function isIntact(fs: FileSystem, fd: number, { offset, bytes }: FileSeal): boolean {
  return readRange(fs, fd, offset, bytes.length).equals(bytes);
}

/** Where the last line begins that was read, torn or whole. */
function lastLineOffset(index: SessionIndex): number {
  const torn = index.isMidLine ? index.issues.at(-1) : undefined;
  if (torn?.code === "TAIL_TORN") return torn.offset;
  const { tree, places } = index;
  for (let ordinal = tree.size - 1; ordinal >= 0; ordinal--) {
    const offset = places.offsetAt(ordinal);
    // Where entries stand that were written here is presumed until somebody has looked.
    if (offset < index.position) return offset;
  }
  return index.headerPlace?.offset ?? 0;
}
