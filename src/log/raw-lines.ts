import { decodeText } from "../jsonl/decode.ts";
import { DEFAULT_MAX_LINE_BYTES, LineScanner } from "../jsonl/line-scanner.ts";
import { NotAPlainFileError } from "./file-errors.ts";
import { closeQuietly, type FileSystem, openForReading, readPieces } from "./file-system.ts";

/**
 * Reads the lines of a file, whatever they hold.
 *
 * @param take - Called for each line as text, without its line break; undefined for a line over the bound.
 * @throws The system's error.
 * @throws {NotAPlainFileError} If a folder, pipe, socket or device is at the path.
 * @remarks Cost: O(bytes).
 */
export function eachRawLine(fs: FileSystem, path: string, take: (line: string | undefined) => void): void {
  const fd = openForReading(fs, path);
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
    const scanner = new LineScanner(
      {
        line: ({ bytes, start, end }) => {
          take(decodeText(bytes.subarray(start, end)));
          return true;
        },
        overlong: () => take(undefined),
      },
      { maxLineBytes: DEFAULT_MAX_LINE_BYTES },
    );
    for (const piece of readPieces(fs, fd, 0, stats.size)) scanner.feed(piece);
    scanner.end();
  } finally {
    closeQuietly(fs, fd);
  }
}
