import { digestOf } from "../schema/ids.ts";

const DIGEST_LENGTH = 8;

/** Replaces what is no letter, digit, `_` or `-`, and cuts what is too long. */
export function plainName(name: string, maxLength: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
}

/** Gives every id of a conversation one that fits a provider's pattern: the same for the same, another for another. */
export class ToolIds {
  readonly #maxLength: number;
  readonly #partOf: (id: string) => string;
  readonly #byId = new Map<string, string>();
  readonly #taken = new Set<string>();

  /**
   * @param maxLength - Characters that an id may have.
   * @param partOf - Returns the part of an id of ours that the provider knows. Default: all of it.
   */
  constructor(maxLength: number, partOf = (id: string) => id) {
    this.#maxLength = maxLength;
    this.#partOf = partOf;
  }

  /** Returns the provider's id for one of ours. */
  of(id: string): string {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const plain = plainName(this.#partOf(id), this.#maxLength);
    let fitting = plain;
    for (let attempt = 0; fitting === "" || this.#taken.has(fitting); attempt++) {
      const digest = digestOf(`${id}\n${attempt}`).slice(0, DIGEST_LENGTH);
      fitting = `${(plain || "call").slice(0, this.#maxLength - DIGEST_LENGTH - 1)}_${digest}`;
    }
    this.#byId.set(id, fitting);
    this.#taken.add(fitting);
    return fitting;
  }

  /** Tells whether the provider gets the id as it is. */
  isUnchanged(id: string): boolean {
    return this.of(id) === this.#partOf(id);
  }
}

/** Returns the part of an id of ours by which OpenAI pairs a call with its result; the part behind `|` names the item. */
export function callIdOf(id: string): string {
  return id.split("|", 1)[0] ?? "";
}
