import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished, vi } from "vitest";

/** Returns an array to which the path of every file opened from now on is added until the test has finished. */
export function openedFiles(): string[] {
  const paths: string[] = [];
  const open = fs.openSync;
  const spy = vi.spyOn(fs, "openSync").mockImplementation((path, ...rest) => {
    paths.push(String(path));
    return open(path, ...rest);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return paths;
}

/** Overwrites all occurrences of some bytes in a file in place, and restores its modification time. */
export function overwrite(path: string, text: string, by: string): void {
  const { atime, mtime } = fs.statSync(path);
  const bytes = fs.readFileSync(path);
  const changed = Buffer.from(bytes.toString("latin1").replaceAll(text, by), "latin1");
  if (changed.equals(bytes) || changed.length !== bytes.length)
    throw new Error(`${text} is not in ${path}, or ${by} has another length`);
  const fd = fs.openSync(path, "r+");
  fs.writeSync(fd, changed, 0, changed.length, 0);
  fs.closeSync(fd);
  fs.utimesSync(path, atime, mtime);
}
