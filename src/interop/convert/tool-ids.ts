import { hashText } from "../../core/format/ids.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";

const DIGEST_LENGTH = 8;

/** Replaces all characters except letters, digits, `_` and `-`, and truncates the name. */
export function normalizeName(name: string, maxLength: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
}

/** Truncates an id, whatever its characters. */
export function shortenId(id: string, maxLength: number): string {
  return toWellFormedText(id.slice(0, maxLength));
}

/** How ids fit a provider. */
export interface IdStyle {
  readonly maxLength: number;
  /** Returns the part of our id that the provider knows. Default: all of it. */
  readonly getPart?: (id: string) => string;
  /** Makes an id of another model fit the provider's pattern. Default: `normalizeName`. */
  readonly fitForeign?: (id: string, maxLength: number) => string;
  /** Makes an id of the model of the request fit: its server takes back what it made. Default: `shortenId`. */
  readonly fitOwn?: (id: string, maxLength: number) => string;
}

/** Maps the ids of a conversation to ids that fit a provider's pattern, one to one. */
export class ToolIds {
  readonly #style: Required<IdStyle>;
  readonly #byId = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor({ maxLength, getPart = (id) => id, fitForeign = normalizeName, fitOwn = shortenId }: IdStyle) {
    this.#style = { maxLength, getPart, fitForeign, fitOwn };
  }

  /**
   * Lets an id stay as it is if it fits and no other is like it; call it for all ids before `of`, so that no changed one
   * takes theirs.
   *
   * @param isOwn - Whether the model of the request made the id.
   */
  keep(id: string, isOwn: boolean): void {
    const { maxLength, getPart, fitForeign, fitOwn } = this.#style;
    const part = getPart(id);
    const fitting = isOwn ? fitOwn(part, maxLength) : fitForeign(part, maxLength);
    if (fitting === part && this.#isFree(part) && !this.#byId.has(id)) this.#take(id, part);
  }

  /** Returns the provider's id for one of ours. */
  of(id: string): string {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const { maxLength, getPart, fitForeign } = this.#style;
    const plain = fitForeign(getPart(id), maxLength);
    let fitting = plain;
    for (let attempt = 0; !this.#isFree(fitting); attempt++) {
      const digest = hashText(`${id}\n${attempt}`).slice(0, DIGEST_LENGTH);
      fitting = `${fitForeign(plain || "call", maxLength - DIGEST_LENGTH - 1)}_${digest}`;
    }
    return this.#take(id, fitting);
  }

  /** Tells whether the provider gets the id unchanged. */
  isUnchanged(id: string): boolean {
    return this.of(id) === this.#style.getPart(id);
  }

  #isFree(fitting: string): boolean {
    return fitting !== "" && !this.#taken.has(fitting);
  }

  #take(id: string, fitting: string): string {
    this.#byId.set(id, fitting);
    this.#taken.add(fitting);
    return fitting;
  }
}

/** Returns the part of our id with which OpenAI pairs call and result; the part behind `|` names the item. */
export function getCallId(id: string): string {
  return id.split("|", 1)[0] ?? "";
}

/** Makes our id of a call from OpenAI's and that of its item, if it has one. */
export function withItemId(callId: string, itemId: unknown): string {
  return typeof itemId === "string" ? `${callId}|${itemId}` : callId;
}
