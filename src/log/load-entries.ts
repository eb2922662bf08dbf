import { ifPresent, openForReading, readPieces, realFileSystem } from "../fs/file-system.ts";
import { parseRecords } from "../jsonl/parse-records.ts";
import type { FileEntry } from "../schema/entry.ts";
import { absolutePath } from "./session-paths.ts";

/**
 * Parses the records of a session file as they stand, header and entries, without upgrading them.
 *
 * @returns Empty if there is no such file or it is no session.
 * @remarks Cost: O(file). A `SessionManager` reads less and reports what is wrong.
 */
export function loadEntriesFromFile(path: string): FileEntry[] {
  const fs = realFileSystem;
  const absolute = absolutePath(path);
  const stats = ifPresent(() => fs.statSync(absolute));
  if (!stats?.isFile()) return [];
  const fd = openForReading(fs, absolute);
  try {
    const records = parseRecords(readPieces(fs, fd, 0, stats.size));
    const header = records.find((record) => record.type === "session");
    return typeof header?.id === "string" ? records : [];
  } finally {
    fs.closeSync(fd);
  }
}
