import { decodeText } from "../../core/jsonl/decode.ts";
import { DEFAULT_MAX_LINE_BYTES, LineScanner } from "../../core/jsonl/line-scanner.ts";
import {
  closeQuietly,
  type FileSystem,
  NotAPlainFileError,
  openForReading,
  readPieces,
} from "../fs/file-system.ts";

/** Where a line stands in its file, in bytes. */
export interface RawSpan {
  readonly offset: number;
  readonly length: number;
}

/**
 * Reads the lines of a file, whatever they hold.
 *
 * @param take - Called for each line that is not blank, as text without its line break, and with its span. A line over the bound
 *   has no text.
 * @throws The system's error.
 * @throws {NotAPlainFileError} If a folder, pipe, socket or device is at the path.
 */
export function eachRawLine(
  fs: FileSystem,
  path: string,
  take: (line: string | undefined, span: RawSpan) => void,
): void {
  const fd = openForReading(fs, path);
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
    scanRawLines(readPieces(fs, fd, 0, stats.size), take);
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Reads the lines of bytes in pieces, as `eachRawLine` reads those of a file. */
export function scanRawLines(
  pieces: Iterable<Uint8Array>,
  take: (line: string | undefined, span: RawSpan) => void,
): void {
  const scanner = new LineScanner(
    {
      line: ({ bytes, start, end, offset }) => {
        take(decodeText(bytes.subarray(start, end)), { offset, length: end - start });
        return true;
      },
      overlong: (span) => take(undefined, span),
    },
    { maxLineBytes: DEFAULT_MAX_LINE_BYTES },
  );
  for (const piece of pieces) scanner.feed(piece);
  scanner.end();
}
