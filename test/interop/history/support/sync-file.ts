import { dirname } from "node:path";
import { FileTarget } from "../../../../src/interop/history/import-target.ts";
import type { ImportStatus } from "../../../../src/interop/history/sync-plan.ts";
import { syncSession } from "../../../../src/interop/history/sync-session.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";
import { type FileSystem, realFileSystem } from "../../../../src/session/fs/file-system.ts";

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
