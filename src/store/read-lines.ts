import type { Places } from "../reading/places.ts";
import { type FileSystem, readRange } from "./file-system.ts";

/** Lines this near to each other are read at once. */
const MAX_GAP_BYTES = 64 * 1024;

/** Bytes read at once, unless one line is longer. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/**
 * Reads the lines of entries from a file, neighbours together.
 *
 * @param take - Called for each in the order given; the bytes are valid during the call.
 * @remarks Cost: O(bytes of the lines), and one read for each run of neighbours.
 */
export function readLinesOf(
  fs: FileSystem,
  fd: number,
  places: Pick<Places, "at">,
  ordinals: Iterable<number>,
  take: (ordinal: number, bytes: Uint8Array) => void,
): void {
  let run: number[] = [];
  let [start, end] = [0, 0];
  const flush = () => {
    if (run.length === 0) return;
    const bytes = readRange(fs, fd, start, end - start);
    if (bytes.length < end - start) throw new Error("the file is shorter than it was");
    for (const ordinal of run) {
      const { offset, length } = places.at(ordinal);
      take(ordinal, bytes.subarray(offset - start, offset - start + length));
    }
    run = [];
  };
  for (const ordinal of ordinals) {
    const { offset, length } = places.at(ordinal);
    const isNear =
      offset >= end && offset - end <= MAX_GAP_BYTES && offset + length - start <= MAX_READ_BYTES;
    if (run.length > 0 && !isNear) flush();
    if (run.length === 0) start = offset;
    end = offset + length;
    run.push(ordinal);
  }
  flush();
}
