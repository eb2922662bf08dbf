import type { SessionIndexOptions } from "../../../../src/core/jsonl/line-index.ts";
import { SessionIndex } from "../../../../src/core/jsonl/session-index.ts";
import { NONE } from "../../../../src/core/tree/entry-tree.ts";

export const SESSION_ID = "0194d0a1-7c3e-7b52-9d0e-5a3f0c1b2d4e";
export const TIME = "2026-02-03T22:52:06.410Z";

/** A record as it is written down. */
export type Fields = { readonly [name: string]: unknown };

export function headerLine(fields: Fields = { version: 3 }): string {
  return JSON.stringify({ type: "session", ...fields, id: SESSION_ID, timestamp: TIME, cwd: "/x" });
}

/** A message entry; `more` overrides its fields, undefined leaves one out. */
export function entryLine(id: unknown, parentId: unknown, more: Fields = {}): string {
  const message = { role: "user", content: "hello", timestamp: 1770159126410 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: TIME, message, ...more });
}

/** A file of lines, each ended by a line break. */
export function joinFile(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** A version-3 file of these lines behind its header. */
export function joinSession(...lines: readonly string[]): string {
  return joinFile(headerLine(), ...lines);
}

/** A file that grows, and the index that reads it. */
export class GrowingFile {
  readonly index: SessionIndex;
  #bytes = new Uint8Array(0);

  constructor(options: Omit<SessionIndexOptions, "readBytes"> = {}) {
    const readBytes = (offset: number, length: number) => this.#bytes.subarray(offset, offset + length);
    this.index = new SessionIndex({ readBytes, ...options });
  }

  /** Bytes of the file. */
  get size(): number {
    return this.#bytes.length;
  }

  /** What is in the file. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }

  /** Puts text at the end of the file without anybody reading it. */
  write(text: string | Uint8Array): Uint8Array {
    const more = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const bytes = new Uint8Array(this.#bytes.length + more.length);
    bytes.set(this.#bytes);
    bytes.set(more, this.#bytes.length);
    this.#bytes = bytes;
    return more;
  }

  /** Puts text at the end of the file and reads it. */
  grow(text: string | Uint8Array): this {
    this.index.feed(this.write(text));
    this.index.end();
    return this;
  }

  /** Reads what was put at the end without being read. */
  catchUp(): this {
    this.index.feed(this.#bytes.subarray(this.index.position));
    this.index.end();
    return this;
  }
}

/** Reads a file at once. */
export function read(
  text: string | Uint8Array,
  options: Omit<SessionIndexOptions, "readBytes"> = {},
): SessionIndex {
  return new GrowingFile(options).grow(text).index;
}

/** Each entry as `id < parent`. */
export function links({ tree }: SessionIndex): string[] {
  return Array.from(tree.ordinals(), (ordinal) => {
    const parent = tree.parentAt(ordinal);
    return parent === NONE ? tree.idAt(ordinal) : `${tree.idAt(ordinal)} < ${tree.idAt(parent)}`;
  });
}

/** Ids of all entries, in order. */
export function ids({ tree }: SessionIndex): string[] {
  return Array.from(tree.ordinals(), (ordinal) => tree.idAt(ordinal));
}

/** Each issue as `CODE line`, in the order of the file. */
export function codes({ issues }: SessionIndex): string[] {
  return [...issues]
    .sort((a, b) => a.line - b.line || a.offset - b.offset)
    .map(({ code, line }) => `${code} ${line}`);
}

/** Id of the leaf, or null. */
export function getLeaf({ tree, storedLeaf }: SessionIndex): string | null {
  return storedLeaf === NONE ? null : tree.idAt(storedLeaf);
}
