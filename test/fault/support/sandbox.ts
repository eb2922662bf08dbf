import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { IS_WINDOWS } from "../../support/platform.ts";
import { removeFolder } from "../../support/remove-folder.ts";

/** Folder in memory for test files, if the machine has one: fault tests create many. */
const FAST = "/dev/shm";

/** Creates a folder that is removed at the end of the test. */
export function sandbox(): string {
  const folder = mkdtempSync(join(existsSync(FAST) ? resolve(FAST) : tmpdir(), "test-sessiontree-"));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Writes a file to a folder and returns its path. */
export function place(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/**
 * Returns the names of the files in a folder, hidden ones included. On Windows without those that were removed, and keep a name
 * until the last session closes them.
 */
export function names(folder: string): string[] {
  const all = readdirSync(folder).sort();
  return IS_WINDOWS ? all.filter((name) => !name.endsWith(".tmp")) : all;
}

/** Returns the names of files that should have been removed. */
export function litter(folder: string): string[] {
  return names(folder).filter((name) => name.startsWith(".") || name.endsWith(".tmp"));
}

/** Returns the bytes and times of a file, to be compared with later ones. */
export function snapshot(path: string): object {
  const { mtimeNs, ctimeNs, size, ino, mode } = statSync(path, { bigint: true });
  return { mtimeNs, ctimeNs, size, ino, mode, bytes: readFileSync(path).toString("latin1") };
}
