import { renameSync } from "node:fs";
import { IS_WINDOWS } from "./platform.ts";

let moved = 0;

/**
 * Moves a file to the path of another one, as a program does that knows nothing of sessions. On Windows, which moves none over one
 * that is open, that one is moved away first.
 */
export function moveOver(from: string, path: string): void {
  if (IS_WINDOWS) renameSync(path, `${path}.away-${moved++}`);
  renameSync(from, path);
}
