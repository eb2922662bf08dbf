import { dirname } from "node:path";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { type FileState, isSameFile, stateAt, stateOfOpen } from "../../session/fs/file-identity.ts";
import {
  closeQuietly,
  realFileSystem as fs,
  modeOfPlainFile,
  openForReading,
  readPieces,
  syncFolder,
  whileHeld,
} from "../../session/fs/file-system.ts";
import { removeTemporary } from "../../session/fs/temporary-files.ts";
import { writeTemporary } from "../../session/fs/write-whole.ts";
import { FileChangedError } from "../../session/log/file-errors.ts";
import { eachRawLine, type RawSpan } from "../../session/log/raw-lines.ts";

interface Edit extends RawSpan {
  readonly text: string;
}

/**
 * Redacts a text in a file to which nobody appends, line by line; all else stays byte for byte.
 *
 * Keeps the version of an old session, and adds no record.
 *
 * @throws The system's error, or `FileChangedError`; the file is then unchanged.
 * @remarks Cost: O(bytes); memory O(changed lines).
 */
export function redactIdleFile(path: string, redactor: TextRedactor): void {
  const { temporary, before } = writeRedacted(path, redactor);
  try {
    const now = stateAt(fs, path);
    if (!isSameFile(before, now) || now?.size !== before.size || now.mtimeNs !== before.mtimeNs)
      throw new FileChangedError("another process changed the file meanwhile");
    whileHeld(fs, () => fs.renameSync(temporary, path));
  } catch (error) {
    removeTemporary(fs, temporary);
    throw error;
  }
  syncFolder(fs, dirname(path));
}

/** Writes the redacted file beside the old one, which is closed afterwards: Windows replaces no open file. */
function writeRedacted(path: string, redactor: TextRedactor): { temporary: string; before: FileState } {
  const mode = modeOfPlainFile(fs, path);
  const fd = openForReading(fs, path);
  try {
    const before = stateOfOpen(fs, fd);
    const edits: Edit[] = [];
    eachRawLine(fs, path, (line, span) => {
      const text = line === undefined ? undefined : redactor.ofLine(line).text;
      if (text !== undefined && text !== line) edits.push({ ...span, text });
    });
    return {
      temporary: writeTemporary({ fs, path, mode, pieces: editedPieces(fd, before.size, edits) }),
      before,
    };
  } finally {
    closeQuietly(fs, fd);
  }
}

function* editedPieces(
  fd: number,
  size: number,
  edits: readonly Edit[],
): Generator<Uint8Array | string, void> {
  let at = 0;
  for (const { offset, length, text } of edits) {
    yield* readPieces(fs, fd, at, offset);
    yield text;
    at = offset + length;
  }
  yield* readPieces(fs, fd, at, size);
}
