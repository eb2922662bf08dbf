import { digestOf } from "../schema/ids.ts";

const DIGEST_LENGTH = 8;

/** Replaces all characters except letters, digits, `_` and `-`, and truncates the name. */
export function plainName(name: string, maxLength: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
}

/** Maps the ids of a conversation to ids that fit a provider's pattern, one to one. */
export class ToolIds {
  readonly #maxLength: number;
  readonly #partOf: (id: string) => string;
  readonly #fit: (id: string, maxLength: number) => string;
  readonly #byId = new Map<string, string>();
  readonly #taken = new Set<string>();

  /**
   * @param maxLength - Maximum length of an id.
   * @param partOf - Returns the part of our id that the provider knows. Default: all of it.
   * @param fit - Makes an id fit the provider's pattern.
   */
  constructor(maxLength: number, partOf = (id: string) => id, fit = plainName) {
    this.#maxLength = maxLength;
    this.#partOf = partOf;
    this.#fit = fit;
  }

  /** Returns the provider's id for one of ours. */
  of(id: string): string {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const plain = this.#fit(this.#partOf(id), this.#maxLength);
    let fitting = plain;
    for (let attempt = 0; fitting === "" || this.#taken.has(fitting); attempt++) {
      const digest = digestOf(`${id}\n${attempt}`).slice(0, DIGEST_LENGTH);
      fitting = `${(plain || "call").slice(0, this.#maxLength - DIGEST_LENGTH - 1)}_${digest}`;
    }
    this.#byId.set(id, fitting);
    this.#taken.add(fitting);
    return fitting;
  }

  /** Tells whether the provider gets the id unchanged. */
  isUnchanged(id: string): boolean {
    return this.of(id) === this.#partOf(id);
  }
}

/** Returns the part of our id with which OpenAI pairs call and result; the part behind `|` names the item. */
export function callIdOf(id: string): string {
  return id.split("|", 1)[0] ?? "";
}
