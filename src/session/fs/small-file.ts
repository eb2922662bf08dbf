import { createRequire } from "node:module";

/**
 * Replaces a small file as a whole, or creates it: a reader sees the old bytes or the new ones, also after a power cut.
 *
 * Of a link the target is replaced.
 *
 * @param mode - Permissions. Default: those of the file, whose owner stays, too.
 * @throws The system's error; the old file is then still there.
 */
export function replaceSmallFile(path: string, content: string | Buffer, mode?: number): void {
  // Loaded when something is written.
  const writer: typeof import("write-file-atomic") = createRequire(import.meta.url)("write-file-atomic");
  // A fresh object, since the package writes into it.
  writer.sync(path, content, { ...(mode !== undefined && { mode }) });
}
