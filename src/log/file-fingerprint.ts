import { type FileSystem, readRange } from "../fs/file-system.ts";
import { LINE_BREAK } from "../jsonl/line-scanner.ts";
import { SessionIndex } from "../jsonl/session-index.ts";

/** Enough of a line to hold its id and time, which make it unique. */
const FINGERPRINT_BYTES = 256;

/**
 * The beginning of a file's last line, which detects a replaced file.
 *
 * Size and inode are not enough: other programs rewrite files in place, the system reuses the inode of a deleted file, and
 * a writer that failed replaces its torn line by another.
 */
export interface FileFingerprint {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Ordinal from which on entries may have been read while their writer was not done with them. */
  readonly newest: number;
}

/** Takes the fingerprint of what an index has read of a file. */
export function takeFingerprint(
  index: SessionIndex,
  readBytes: (offset: number, length: number) => Uint8Array,
  newest = index.tree.size - 1,
): FileFingerprint {
  const offset = index.lastLineOffset;
  const length = Math.min(FINGERPRINT_BYTES, Math.max(0, index.position - offset));
  return { offset, bytes: readBytes(offset, length), newest };
}

/** Takes the fingerprint of a file that is made of these bytes: every session has a different header. */
export function fingerprintOfHeader(bytes: Uint8Array, { headerSpan }: SessionIndex): FileFingerprint {
  return { offset: 0, bytes: bytes.slice(0, headerSpan?.length), newest: Number.POSITIVE_INFINITY };
}

/** Tells whether a file still has a fingerprint. */
export function isIntact(fs: FileSystem, fd: number, { offset, bytes }: FileFingerprint): boolean {
  return readRange(fs, fd, offset, bytes.length).equals(bytes);
}

/** Tells whether a line break would make entries of a file's torn last line. */
export function endsInEntries(fs: FileSystem, fd: number, index: SessionIndex): boolean {
  const torn = index.tornTail;
  if (torn === undefined) return false;
  const bytes = readRange(fs, fd, torn.offset, torn.length);
  const alone = new SessionIndex({
    readBytes: (offset, length) => bytes.subarray(offset, offset + length),
    ...(index.header && { header: index.header }),
  });
  alone.feed(bytes);
  alone.feed(LINE_BREAK);
  alone.end();
  return alone.tree.size > 0;
}
