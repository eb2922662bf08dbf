import { rmSync } from "node:fs";
import { hasErrorCode } from "../../src/session/fs/file-system.ts";
import { IS_WINDOWS } from "./platform.ts";

/** Removes a test's folder. Windows refuses that while a session in it is open: the folder stays among temporary files. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!IS_WINDOWS || !hasErrorCode(error, "ENOTEMPTY", "EPERM", "EBUSY", "EACCES")) throw error;
  }
}
