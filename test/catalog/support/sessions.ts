import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

type Fields = { readonly [key: string]: unknown };

/** Time of the first record of every session created here. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

const iso = (ms: number) => new Date(ms).toISOString();

/** Writes a file, creating its folder, and sets its time: seconds after `START_MS`. */
export function put(path: string, content: string | Uint8Array, seconds?: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (seconds !== undefined) touch(path, seconds);
  return path;
}

/** Sets a file's time: seconds after `START_MS`. */
export function touch(path: string, seconds: number): void {
  utimesSync(path, START_MS / 1000 + seconds, START_MS / 1000 + seconds);
}

export function header(fields: Fields = {}): Fields {
  return {
    type: "session",
    version: 3,
    id: "session-1",
    timestamp: iso(START_MS),
    cwd: "/project",
    ...fields,
  };
}

/** A linear sequence of entries, each the child of the previous one; ids are eight hex digits made from a number. */
export class Chain {
  readonly records: Fields[];
  #count: number;
  #parentId: string | null = null;

  /** @param first - Number from which the first id is made. */
  constructor(head: Fields = header(), first = 1) {
    this.records = [head];
    this.#count = first - 1;
  }

  /** Returns the id of the entry with this number. */
  static id(number: number): string {
    return number.toString(16).padStart(8, "0");
  }

  get lastId(): string | null {
    return this.#parentId;
  }

  get text(): string {
    return joinLines(this.records);
  }

  add(type: string, body: Fields, base: Fields = {}): this {
    this.#count++;
    const id = Chain.id(this.#count);
    const timestamp = iso(START_MS + this.#count * 1000);
    this.records.push({ type, id, parentId: this.#parentId, timestamp, ...base, ...body });
    this.#parentId = id;
    return this;
  }

  message(message: Fields): this {
    return this.add("message", { message });
  }

  user(text: unknown, fields: Fields = {}): this {
    const timestamp = START_MS + (this.#count + 1) * 1000;
    return this.message({ role: "user", content: text, timestamp, ...fields });
  }

  assistant(text: string, fields: Fields = {}): this {
    const timestamp = START_MS + (this.#count + 1) * 1000;
    const content = [{ type: "text", text }];
    const rest = { api: "a", provider: "p", model: "m", usage: { input: 1, output: 2 }, stopReason: "stop" };
    return this.message({ role: "assistant", content, ...rest, timestamp, ...fields });
  }

  name(name: string): this {
    return this.add("session_info", { name });
  }
}

/** Returns records as a file's text, with a line break at the end. */
export function joinLines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Collects all values of an iteration. */
export async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}
