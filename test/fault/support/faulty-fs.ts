import * as nodeFs from "node:fs";
import type { SessionOptions } from "sessiontree";

/** Functions that a session needs of a file system. */
export type FileSystem = NonNullable<SessionOptions["fs"]>;

/** Error to inject, and its call. */
export interface Fault {
  /** Number of the call, from 1. */
  readonly at: number;
  /** Error code; `SHORT` writes half of the bytes, and fails for calls that write nothing. */
  readonly code: "ENOSPC" | "EIO" | "EACCES" | "SHORT";
  /** Whether all calls from there on fail, until `heal`, or only that one. */
  readonly isLasting?: boolean;
  /** Whether a write that fails has written half of its bytes before. */
  readonly isTorn?: boolean;
}

/** File system that fails on demand and counts the calls. */
export interface FaultyFileSystem {
  readonly fs: FileSystem;
  /** Number of calls so far. */
  readonly calls: number;
  /** Names of the calls that failed. */
  readonly failed: readonly string[];
  /** Stops all failures. */
  heal(): void;
}

const systemError = (code: string, name: string) =>
  Object.assign(new Error(`${code}: injected, ${name}`), { code, syscall: name });

/** Creates a file system that calls `before` before every call, and returns its result instead if it is not undefined. */
export function watchedFs(
  before: (name: string, args: unknown[]) => unknown,
  fs: FileSystem = nodeFs,
): FileSystem {
  return new Proxy<FileSystem>(fs, {
    get(target, key) {
      const call: unknown = Reflect.get(target, key);
      if (typeof call !== "function") return call;
      return (...args: unknown[]) => {
        const given = before(String(key), args);
        return given === undefined ? Reflect.apply(call, target, args) : given;
      };
    },
  });
}

/** Creates a file system with a fault. */
export function faultyFs(
  { at, code, isLasting = false, isTorn = false }: Fault,
  base: FileSystem = nodeFs,
): FaultyFileSystem {
  let calls = 0;
  let isHealed = false;
  const failed: string[] = [];
  const half = (args: unknown[]) => {
    const [fd, bytes, offset, length] = args;
    if (typeof fd !== "number" || !(bytes instanceof Uint8Array)) throw new TypeError("not a write");
    if (typeof offset !== "number" || typeof length !== "number") throw new TypeError("not a write");
    return nodeFs.writeSync(fd, bytes, offset, Math.ceil(length / 2));
  };
  const fs = watchedFs((name, args) => {
    calls++;
    const isDue = !isHealed && (isLasting ? calls >= at : calls === at);
    if (!isDue) return undefined;
    if (code === "SHORT") return name === "writeSync" ? half(args) : undefined;
    failed.push(name);
    if (name === "writeSync" && isTorn) half(args);
    // A close that fails has closed nevertheless.
    if (name === "closeSync" && typeof args[0] === "number") nodeFs.closeSync(args[0]);
    throw systemError(code, name);
  }, base);
  return {
    fs,
    failed,
    get calls() {
      return calls;
    },
    heal() {
      isHealed = true;
    },
  };
}
