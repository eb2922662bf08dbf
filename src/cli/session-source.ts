import { fieldsOf } from "../context/entry-fields.ts";
import { IMPORT_CUSTOM_TYPE } from "../import/imported-session.ts";
import { decodeText, parseRecord } from "../jsonl/decode.ts";
import { closeQuietly, ifPresent, openForReading, readRange, realFileSystem } from "../log/file-system.ts";

/** Bytes in which header and first entry stand, as imports write them. */
const FRONT_BYTES = 8 * 1024;

/** Returns the program that a session was imported from, as its first entry says; undefined if it was not imported. */
export function sourceOfSession(path: string): string | undefined {
  const fd = ifPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    const front = decodeText(readRange(realFileSystem, fd, 0, FRONT_BYTES));
    const entry = parseRecord(front.split("\n", 2)[1] ?? "");
    const { source } = fieldsOf(entry?.["data"]);
    return entry?.["customType"] === IMPORT_CUSTOM_TYPE && typeof source === "string" ? source : undefined;
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}
