import { hostname } from "node:os";
import { join } from "node:path";
import { nodeCrypto, sha256 } from "./digest.ts";
import { type FileSystem, ifPresent, removeQuietly } from "./file-system.ts";
import { startOf } from "./process-start.ts";

/** After so long without a change, a file of another machine's process is left over. */
const LEFT_OVER_AFTER_MS = 60 * 60 * 1000;

/** Machine, process, and when that started: whose a temporary file is. */
const NAME = /^\.([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f]{16}\.tmp$/;

let machineName: string | undefined;
let ownStart: string | undefined;

/** Files of this process that could not be removed. */
const abandoned = new Set<string>();

/**
 * Returns a new name for a file that is written before it gets its place. The name says whose the file is.
 *
 * @param folder - The one in which its place is.
 */
export function temporaryPath(folder: string): string {
  ownStart ??= startOf(process.pid) ?? "";
  // Short, since the final name may be as long as the system allows.
  const unique = nodeCrypto().randomBytes(8).toString("hex");
  return join(folder, `.${machine()}-${process.pid}-${ownStart}-${unique}.tmp`);
}

/** Removes a temporary file, now or, should that fail, before the next one is made. */
export function removeTemporary(fs: FileSystem, path: string): void {
  if (!removeQuietly(fs, path)) abandoned.add(path);
}

/**
 * Removes the temporary files of processes that were killed: they may hold text that has been redacted since.
 *
 * @remarks Cost: O(names in the folder).
 */
export function removeLeftovers(fs: FileSystem, folder: string): void {
  for (const path of abandoned) if (removeQuietly(fs, path)) abandoned.delete(path);
  for (const name of fs.readdirSync(folder)) {
    const [, host, pid, startedAt] = NAME.exec(name) ?? [];
    if (host === undefined) continue;
    const path = join(folder, name);
    const isLeft = host === machine() ? startOf(Number(pid)) !== startedAt : isUnchanged(fs, path);
    if (isLeft) removeQuietly(fs, path);
  }
}

/** Eight characters for this machine. */
function machine(): string {
  machineName ??= sha256(hostname()).slice(0, 8);
  return machineName;
}

function isUnchanged(fs: FileSystem, path: string): boolean {
  const stats = ifPresent(() => fs.lstatSync(path));
  return stats !== undefined && Date.now() - stats.ctimeMs > LEFT_OVER_AFTER_MS;
}
