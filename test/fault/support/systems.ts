import defaultFs, * as nodeFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { IS_WINDOWS } from "../../support/platform.ts";
import { type FileSystem, watchedFs } from "./faulty-fs.ts";

/** Kind of system, each with its own steps of a replacement. */
export type System = "posix" | "windows" | "without links";

/** Kinds of system that this machine is or can simulate. */
export const SYSTEMS: readonly System[] = IS_WINDOWS ? ["windows"] : ["posix", "windows", "without links"];

/**
 * Creates a file system that behaves like one of these:
 *
 * - on Windows, a file that is open, here or in another thread, can be moved, but not replaced; its name stays in use after it
 *   is removed, until it is closed; folders cannot be opened;
 * - without links, `link` is rejected, as on USB disks.
 */
export function systemFs(system: System): FileSystem {
  if (system === "posix" || IS_WINDOWS) return nodeFs;
  if (system === "without links") {
    return watchedFs((name, [, to]) => {
      if (name === "linkSync") throw refusal(name, String(to));
    });
  }
  return new Proxy(watchedFs(refuseAsWindows), {
    get: (fs, key): unknown => (key === "keepsOpenFiles" ? true : Reflect.get(fs, key)),
  });
}

/** Simulates a kind of system in this entire process. Violations of its rules are not detected. */
export function playSystem(system: string | undefined): void {
  if (system === "windows") Object.assign(defaultFs, { keepsOpenFiles: true });
  if (system !== "without links") return;
  Object.assign(defaultFs, {
    linkSync: (_from: string, to: string) => {
      throw refusal("linkSync", to);
    },
  });
  syncBuiltinESMExports();
}

/** Files that were removed while they were open, by the names that they keep until they are closed. */
const pending = new Map<string, nodeFs.BigIntStats>();

function refuseAsWindows(name: string, [first, second]: unknown[]): void {
  const made = String(name === "openSync" || second === undefined ? first : second);
  if (name === "renameSync" && isOpen(statsAt(made))) throw refusal(name, made);
  if (MAKING.includes(name) && isOpen(pending.get(made))) throw refusal(name, made);
  if (name === "openSync" && statsAt(made)?.isDirectory()) throw refusal(name, made);
  if (name !== "unlinkSync") return;
  const stats = statsAt(made);
  if (stats !== undefined && isOpen(stats)) pending.set(made, stats);
}

/** Calls that create or open a file at a name. */
const MAKING = ["openSync", "linkSync", "renameSync", "copyFileSync"];

function statsAt(path: string): nodeFs.BigIntStats | undefined {
  return nodeFs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Whether this process has a descriptor of a file. */
function isOpen(file: nodeFs.BigIntStats | undefined): boolean {
  return file !== undefined && descriptors().some(({ dev, ino }) => dev === file.dev && ino === file.ino);
}

function descriptors(): nodeFs.BigIntStats[] {
  return nodeFs.readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [nodeFs.fstatSync(Number(fd), { bigint: true })];
    } catch (error) {
      // The descriptor by which the folder was read.
      if (error instanceof Error && "code" in error && error.code === "EBADF") return [];
      throw error;
    }
  });
}

function refusal(name: string, path: string): Error {
  return Object.assign(new Error(`EPERM: refused, ${name} '${path}'`), { code: "EPERM", syscall: name });
}
