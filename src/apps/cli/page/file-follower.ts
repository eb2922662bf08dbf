import { statSync } from "node:fs";
import { type FileIdentity, isSameFile, stateOf, stateOfOpen } from "../../../session/fs/file-identity.ts";
import {
  closeQuietly,
  ifPresent,
  openForReading,
  readRange,
  realFileSystem,
} from "../../../session/fs/file-system.ts";

/** How a file has changed: bytes behind those that were read, or another file at its path. */
export type FileChange = { readonly kind: "grown"; readonly bytes: Buffer } | { readonly kind: "replaced" };

const MOST_BYTES = 4 * 1024 * 1024;

/** Returns what tells a file from another one that takes its path, as a text; undefined if none is there. */
export function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && textOf(stateOf(stats));
}

function textOf({ dev, ino, birthtimeNs, ctimeNs }: FileIdentity): string {
  return [dev, ino, birthtimeNs, ctimeNs].join("-");
}

/** Parses what `fileIdentity` returned; undefined if it is something else. */
function identityIn(text: string): FileIdentity | undefined {
  const numbers = /^(\d+)-(\d+)-(\d+)-(\d+)$/.exec(text)?.slice(1).map(BigInt) ?? [];
  const [dev, ino, birthtimeNs, ctimeNs] = numbers;
  if (dev === undefined || ino === undefined || birthtimeNs === undefined || ctimeNs === undefined)
    return undefined;
  return { dev, ino, birthtimeNs, ctimeNs };
}

/** Reads what is appended to a file. */
export class FileFollower {
  readonly #path: string;
  readonly #file: FileIdentity | undefined;
  #offset: number;

  /**
   * @param offset - Bytes that are known already.
   * @param file - Which file they were read from, as `fileIdentity` returns it.
   */
  constructor(path: string, offset: number, file: string) {
    this.#path = path;
    this.#offset = offset;
    this.#file = identityIn(file);
  }

  get offset(): number {
    return this.#offset;
  }

  /** Reads bytes that came since, at most a few megabytes; undefined if none did, or as long as no file is there. */
  poll(): FileChange | undefined {
    const fd = ifPresent(() => openForReading(realFileSystem, this.#path));
    if (fd === undefined) return undefined;
    try {
      const state = stateOfOpen(realFileSystem, fd);
      const { size } = state;
      if (!isSameFile(this.#file, state) || size < this.#offset) return { kind: "replaced" };
      if (size === this.#offset) return undefined;
      const bytes = readRange(realFileSystem, fd, this.#offset, Math.min(size - this.#offset, MOST_BYTES));
      this.#offset += bytes.length;
      return { kind: "grown", bytes };
    } finally {
      closeQuietly(realFileSystem, fd);
    }
  }
}
