import { decodeText } from "../../core/jsonl/decode.ts";
import { DEFAULT_MAX_LINE_BYTES, LineScanner } from "../../core/jsonl/line-scanner.ts";
import { type FileSystem, NotAPlainFileError, readPieces, withOpenFile } from "../fs/file-system.ts";

/** Position of a line in its file, in bytes. */
export interface RawSpan {
  readonly offset: number;
  readonly length: number;
}

/**
 * Reads the lines of a file, regardless of their content.
 *
 * @param take - Called for each nonblank line with its text, excluding the line break, and its span. The text is undefined if the
 *   line exceeds the limit.
 * @throws The system's error.
 * @throws {NotAPlainFileError} If a folder, pipe, socket, or device is at the path.
 */
export function eachRawLine(
  fs: FileSystem,
  path: string,
  take: (line: string | undefined, span: RawSpan) => void,
): void {
  withOpenFile(fs, path, (fd) => {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
    scanRawLines(readPieces(fs, fd, 0, stats.size), take);
  });
}

/** Reads lines from bytes given in pieces, as `eachRawLine` does from a file. */
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
