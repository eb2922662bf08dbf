import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { callIfPresent } from "../../session/fs/file-system.ts";
import { parseWrittenName } from "../../session/log/written-names.ts";

/**
 * Returns the files next to a session's file that may contain its earlier content: backups, and files left over from a repair.
 */
export function findLeftovers(path: string): string[] {
  const [folder, name] = [dirname(path), basename(path)];
  return (callIfPresent(() => readdirSync(folder)) ?? [])
    .filter((other) => parseWrittenName(other, (session) => session === name)?.kind === "backup")
    .sort()
    .map((other) => join(folder, other));
}
