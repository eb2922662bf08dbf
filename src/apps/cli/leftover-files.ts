import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ifPresent } from "../../session/fs/file-system.ts";

/** What follows the name of a session's file in those of its backups and of what a repair left over. */
const LEFTOVER = /^(?:\.v\d+)?\.(?:bak|damaged)(?:\.\d+)?$/;

/** Returns the files beside a session's that may hold what it held before: backups, and what a repair left over. */
export function leftoversOf(path: string): string[] {
  const [folder, name] = [dirname(path), basename(path)];
  return (ifPresent(() => readdirSync(folder)) ?? [])
    .filter((other) => other.startsWith(name) && LEFTOVER.test(other.slice(name.length)))
    .sort()
    .map((other) => join(folder, other));
}
