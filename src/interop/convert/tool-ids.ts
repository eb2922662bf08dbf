import { hashText } from "../../core/format/ids.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";

const DIGEST_LENGTH = 8;

/** Replaces all characters except letters, digits, `_`, and `-`, and truncates the name. */
export function normalizeName(name: string, maxLength: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
}

/** Truncates an id that may contain any characters. */
export function shortenId(id: string, maxLength: number): string {
  return toWellFormedText(id.slice(0, maxLength));
}

/** Rules for adapting ids to a provider. */
export interface IdStyle {
  readonly maxLength: number;
  /** Returns the part of a stored id that the provider uses. Default: the whole id. */
  readonly getPart?: (id: string) => string;
  /** Adapts an id created by a different model to the provider's pattern. Default: `normalizeName`. */
  readonly fitForeign?: (id: string, maxLength: number) => string;
  /** Adapts an id created by the target model, whose server accepts its own ids. Default: `shortenId`. */
  readonly fitOwn?: (id: string, maxLength: number) => string;
}

/** Maps the ids in a conversation one-to-one to ids that match a provider's pattern. */
export class ToolIds {
  readonly #style: Required<IdStyle>;
  readonly #byId = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor({ maxLength, getPart = (id) => id, fitForeign = normalizeName, fitOwn = shortenId }: IdStyle) {
    this.#style = { maxLength, getPart, fitForeign, fitOwn };
  }

  /**
   * Keeps an id unchanged if it is valid and not yet in use. Call this for all ids before calling `of`, so that changed
   * ids cannot use them.
   *
   * @param isOwn - Whether the target model created the id.
   */
  keep(id: string, isOwn: boolean): void {
    const { maxLength, getPart, fitForeign, fitOwn } = this.#style;
    const part = getPart(id);
    const fitting = isOwn ? fitOwn(part, maxLength) : fitForeign(part, maxLength);
    if (fitting === part && this.#isFree(part) && !this.#byId.has(id)) this.#take(id, part);
  }

  /** Returns the provider's id for a stored id. */
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

  /** Returns whether an id is sent to the provider unchanged. */
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

/** Returns the part of a stored id that OpenAI uses to pair a call and its result. The part after `|` identifies the item. */
export function getCallId(id: string): string {
  return id.split("|", 1)[0] ?? "";
}

/** Creates the stored id of a call from OpenAI's call id and, if present, the item id. */
export function withItemId(callId: string, itemId: unknown): string {
  return typeof itemId === "string" ? `${callId}|${itemId}` : callId;
}
