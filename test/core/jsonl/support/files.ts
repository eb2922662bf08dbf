import type { SessionIndexOptions } from "../../../../src/core/jsonl/line-index.ts";
import { SessionIndex } from "../../../../src/core/jsonl/session-index.ts";
import { NONE } from "../../../../src/core/tree/entry-tree.ts";

export const SESSION_ID = "0194d0a1-7c3e-7b52-9d0e-5a3f0c1b2d4e";
export const TIME = "2026-02-03T22:52:06.410Z";

/** Record in its written form. */
export type Fields = { readonly [name: string]: unknown };

export function headerLine(fields: Fields = { version: 3 }): string {
  return JSON.stringify({ type: "session", ...fields, id: SESSION_ID, timestamp: TIME, cwd: "/x" });
}

/** Creates the line of a message entry; `more` overrides its fields, undefined omits one. */
export function entryLine(id: unknown, parentId: unknown, more: Fields = {}): string {
  const message = { role: "user", content: "hello", timestamp: 1770159126410 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: TIME, message, ...more });
}

/** Joins lines to a file, each followed by a line break. */
export function joinFile(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Joins lines to a version-3 file, after its header. */
export function joinSession(...lines: readonly string[]): string {
  return joinFile(headerLine(), ...lines);
}

/** Growing file, and the index that reads it. */
export class GrowingFile {
  readonly index: SessionIndex;
  #bytes = new Uint8Array(0);

  constructor(options: Omit<SessionIndexOptions, "readBytes"> = {}) {
    const readBytes = (offset: number, length: number) => this.#bytes.subarray(offset, offset + length);
    this.index = new SessionIndex({ readBytes, ...options });
  }

  /** Number of bytes in the file. */
  get size(): number {
    return this.#bytes.length;
  }

  /** Content of the file. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }

  /** Appends text to the file without reading it. */
  write(text: string | Uint8Array): Uint8Array {
    const more = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const bytes = new Uint8Array(this.#bytes.length + more.length);
    bytes.set(this.#bytes);
    bytes.set(more, this.#bytes.length);
    this.#bytes = bytes;
    return more;
  }

  /** Appends text to the file and reads it. */
  grow(text: string | Uint8Array): this {
    this.index.feed(this.write(text));
    this.index.end();
    return this;
  }

  /** Reads the unread end of the file. */
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

/** Returns each entry as `id < parent`. */
export function links({ tree }: SessionIndex): string[] {
  return Array.from(tree.ordinals(), (ordinal) => {
    const parent = tree.parentAt(ordinal);
    return parent === NONE ? tree.idAt(ordinal) : `${tree.idAt(ordinal)} < ${tree.idAt(parent)}`;
  });
}

/** Returns the ids of all entries, in order. */
export function ids({ tree }: SessionIndex): string[] {
  return Array.from(tree.ordinals(), (ordinal) => tree.idAt(ordinal));
}

/** Returns each issue as `CODE line`, in the order of the file. */
export function codes({ issues }: SessionIndex): string[] {
  return [...issues]
    .sort((a, b) => a.line - b.line || a.offset - b.offset)
    .map(({ code, line }) => `${code} ${line}`);
}

/** Returns the id of the leaf, or null. */
export function getLeaf({ tree, storedLeaf }: SessionIndex): string | null {
  return storedLeaf === NONE ? null : tree.idAt(storedLeaf);
}
