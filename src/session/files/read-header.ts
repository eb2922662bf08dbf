import type { SessionHeader } from "../../core/format/header.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { ifPresent, openForReading, readPieces, readRange, realFileSystem } from "../fs/file-system.ts";
import { despiteReplacement } from "../log/replace-file.ts";

/** A header stands at the very front: bytes beyond this are not searched. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;

/** Enough for nearly every header. */
const FIRST_BYTES = 4096;

/** Reads the header of a session file and nothing else; undefined if the file is gone or is no session. */
export function readHeaderOf(path: string): SessionHeader | undefined {
  const open = () => openForReading(realFileSystem, path);
  const fd = ifPresent(() => despiteReplacement(realFileSystem, path, open));
  if (fd === undefined) return undefined;
  try {
    return headerIn(fd);
  } finally {
    realFileSystem.closeSync(fd);
  }
}

function headerIn(fd: number): SessionHeader | undefined {
  const stats = realFileSystem.fstatSync(fd);
  if (!stats.isFile()) return undefined;
  const readBytes = (offset: number, length: number) => readRange(realFileSystem, fd, offset, length);
  const index = new SessionIndex({ readBytes });
  const isDone = () => index.header !== undefined || index.isRejected;
  index.feed(readBytes(0, FIRST_BYTES));
  const end = Math.min(stats.size, MAX_HEADER_BYTES);
  if (!isDone()) {
    for (const piece of readPieces(realFileSystem, fd, FIRST_BYTES, end)) {
      index.feed(piece);
      if (isDone()) break;
    }
  }
  if (!isDone()) index.end();
  return index.header;
}
