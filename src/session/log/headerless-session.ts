import { toRecord } from "../../core/context/entry-fields.ts";
import { isKnownEntryType } from "../../core/format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { parseRecords } from "../../core/jsonl/parse-records.ts";
import {
  callIfPresent,
  type FileSystem,
  readPieces,
  realFileSystem,
  withOpenFile,
} from "../fs/file-system.ts";

/** Maximum number of bytes to search for an entry, so that lists of large files stay fast. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns whether a file that is not a session begins with entries of a session, so that a repair can rebuild its header; false if
 * the file no longer exists.
 *
 * @throws The system error if the file cannot be read.
 */
export function isHeaderlessSession(path: string, fs: FileSystem = realFileSystem): boolean {
  const hasEntry = (fd: number) => {
    const end = Math.min(fs.fstatSync(fd).size, MAX_BYTES);
    return parseRecords(readPieces(fs, fd, 0, end)).some((record) => hasEntryShape(toRecord(record)));
  };
  return callIfPresent(() => withOpenFile(fs, path, hasEntry)) ?? false;
}

/** Returns whether a record has the type, the time, and, for a message, the role of an entry. */
function hasEntryShape({ type, timestamp, message }: JsonRecord): boolean {
  if (typeof type !== "string" || !isKnownEntryType(type) || typeof timestamp !== "string") return false;
  return type !== "message" || (isJsonRecord(message) && typeof message["role"] === "string");
}
