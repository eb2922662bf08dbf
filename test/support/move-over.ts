import { renameSync } from "node:fs";
import { IS_WINDOWS } from "./platform.ts";

let moved = 0;

/**
 * Moves a file to the path of another one, as a program unaware of sessions does. On Windows, which replaces no open file, the
 * other one is moved away first.
 */
export function moveOver(from: string, path: string): void {
  if (IS_WINDOWS) renameSync(path, `${path}.away-${moved++}`);
  renameSync(from, path);
}
