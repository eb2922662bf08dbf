import { dirname } from "node:path";
import { type FileSystem, realFileSystem } from "../../../src/fs/file-system.ts";
import { FileTarget } from "../../../src/history/import-target.ts";
import type { ImportStatus } from "../../../src/history/sync-plan.ts";
import { syncSession } from "../../../src/history/sync-session.ts";
import type { ImportedSession } from "../../../src/import/imported-session.ts";

/** Updates a session file to match its source. */
export function syncFile(
  path: string,
  imported: ImportedSession,
  fs: FileSystem = realFileSystem,
  mayMake: () => boolean = () => true,
): Promise<ImportStatus> {
  const target = new FileTarget({ folder: dirname(path), root: "" }, () => new Map(), fs);
  return syncSession(target, path, imported.header, imported, mayMake);
}
