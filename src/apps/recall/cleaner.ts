import { parseExpression } from "../../catalog/query/search-query.ts";
import { withoutHarmful } from "../../core/facts/plain-text.ts";
import { assertText } from "../../core/format/arguments.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { makeLimitedScripts, makeMatchAll, runWithin } from "../../session/fs/limited-scripts.ts";

/** Returns strings with their secrets hidden: one per input string, in the same order. */
export type HideSecrets = (texts: readonly string[]) => readonly string[];

/** Fields that define a record, which could no longer be read if parts of them were hidden. */
const STRUCTURE = new Set(["type", "role", "id", "parentId", "toolCallId", "timestamp"]);

/** Fields where programs store arbitrary data under any name. */
const FREE = new Set(["arguments", "data", "details"]);

/** Maximum depth of nested values; deeper values are omitted. */
const DEEPEST = 100;

/** Escapes of JSON and of URLs, including repeatedly escaped ones. */
const ESCAPE = /\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([bfnrt"'/]))|%(?:25)*([0-7][0-9a-f])/gi;

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Placeholder for removed invisible characters, itself invisible. */
const REMOVED = "\u0000";

/**
 * Maximum number of pieces separated by invisible characters. Up to this number, each break is tried as the start of a secret
 * that spans other breaks.
 */
const MAX_BREAKS = 9;

/** Maximum number of repeated decodings. */
const MAX_DECODED = 4;

type Clean = (text: string) => string;

/**
 * Removes invisible characters and secrets from session content.
 *
 * Text must be cleaned before it is truncated, because part of a secret is not recognizable.
 */
export class Cleaner {
  readonly #hide: HideSecrets | undefined;

  /**
   * @param hide - Undefined if secrets are not hidden.
   */
  constructor(hide: HideSecrets | undefined) {
    this.#hide = hide;
  }

  get hidesSecrets(): boolean {
    return this.#hide !== undefined;
  }

  cleanText(text: string): string {
    return this.cleanTexts([text])[0] ?? "";
  }

  /**
   * Cleans all strings in two passes. Also finds secrets around or next to an invisible character, and secrets that are
   * recognizable only after escapes are decoded; such a string is returned decoded.
   *
   * @throws {TypeError} If the function that hides secrets does not return a string for each input string.
   */
  cleanTexts(texts: readonly string[]): string[] {
    if (this.#hide === undefined) return texts.map((text) => withoutHarmful(text));
    const shown = this.#withoutSecrets(texts);
    const coded = shown.flatMap((text, at) => {
      const plain = decodeEscapes(text);
      return plain === text ? [] : [{ at, plain }];
    });
    const found = this.#withoutSecrets(coded.map(({ plain }) => plain));
    for (const [i, { at, plain }] of coded.entries()) {
      const text = found[i] ?? "";
      if (text !== withoutHarmful(plain)) shown[at] = text;
    }
    return shown;
  }

  #withoutSecrets(texts: readonly string[]): string[] {
    const pieces = texts.map((text) => withoutHarmful(text, REMOVED).split(REMOVED));
    const hidden = this.#hidden(
      pieces.flatMap((some) => [...makeReadings(some), ...separatePieces(some)]),
    ).values();
    const next = () => hidden.next().value ?? "";
    return pieces.map((some) => {
      // The shortest reading hides the most.
      const best =
        makeReadings(some)
          .map(next)
          .sort((a, b) => a.length - b.length)[0] ?? "";
      return separatePieces(some).reduce((shown, piece) => {
        const clean = next();
        return clean === piece ? shown : shown.replaceAll(piece, () => clean);
      }, best);
    });
  }

  #hidden(texts: readonly string[]): readonly string[] {
    if (texts.length === 0 || this.#hide === undefined) return texts;
    const hidden: unknown = this.#hide(texts);
    if (isTexts(hidden) && hidden.length === texts.length) return hidden;
    throw new TypeError("hideSecrets must return a string for each of the strings that it is given.");
  }

  /**
   * Returns copies of entries with every string cleaned, including names of fields, so that derived text such as an
   * excerpt does not split a secret.
   */
  cleanEntries(entries: readonly AnySessionEntry[]): AnySessionEntry[] {
    const texts: string[] = [];
    for (const entry of entries) {
      mapFields(entry, (text) => {
        texts.push(text);
        return text;
      });
    }
    const clean = this.cleanTexts(texts).values();
    return entries.map((entry) => {
      const { id, type, parentId, timestamp } = entry;
      return { ...mapFields(entry, () => clean.next().value ?? ""), id, type, parentId, timestamp };
    });
  }
}

/**
 * Returns possible readings of a string without its invisible characters: a secret may span them, or begin after one of them as
 * it would after a space.
 */
function makeReadings(pieces: readonly string[]): string[] {
  const breaks = pieces.length <= MAX_BREAKS ? pieces.slice(1) : [];
  return [
    pieces.join(""),
    ...breaks.map((_, i) => `${pieces.slice(0, i + 1).join("")} ${pieces.slice(i + 1).join("")}`),
  ];
}

function separatePieces(pieces: readonly string[]): readonly string[] {
  return pieces.length > 1 ? pieces : [];
}

/** Decodes every escape in a string. */
function decodeEscapes(text: string): string {
  let plain = text;
  for (let times = 0; times < MAX_DECODED; times++) {
    const next = plain.replace(
      ESCAPE,
      (_, unit?: string, byte?: string, letter?: string, percent?: string) => {
        const code = unit ?? byte ?? percent;
        return code === undefined
          ? (LETTERS[letter ?? ""] ?? letter ?? "")
          : String.fromCharCode(Number.parseInt(code, 16));
      },
    );
    if (next === plain) break;
    plain = next;
  }
  return plain;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function mapFields(record: object, clean: Clean, isFree = false, depth = 0): { [name: string]: unknown } {
  const isImage = Object.entries(record).some(([name, value]) => name === "type" && value === "image");
  return Object.fromEntries(
    Object.entries(record).map(([name, value]): [string, unknown] => {
      // Only the size of an image is shown, so its data is not cleaned.
      if (!isFree && (STRUCTURE.has(name) || (isImage && name === "data"))) return [name, value];
      return [isFree ? clean(name) : name, mapValue(value, clean, isFree || FREE.has(name), depth + 1)];
    }),
  );
}

function mapValue(value: unknown, clean: Clean, isFree: boolean, depth: number): unknown {
  if (typeof value === "string") return clean(value);
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((one: unknown) => mapValue(one, clean, isFree, depth + 1));
  return isJsonRecord(value) ? mapFields(value, clean, isFree, depth) : value;
}

const HIDDEN = "[secret]";

/** Time limit for matching patterns in a batch of strings, in milliseconds, in addition to time that depends on their length. */
const REPLACEMENT_MS = 1_000;

/** Script that replaces all matches of all patterns in one run. */
const REPLACED = `texts.map((text) =>
  expressions.reduce((shown, one) => shown.replace(one, (found) => found && replacement), text))`;

/** Placeholder that another pattern has matched and replaced again. */
const HIDDEN_AGAIN = /\[*\[secret\]\]+/g;

/**
 * Creates a function that hides all matches of patterns.
 *
 * @param text - One JavaScript regular expression per line; empty lines, and lines that begin with `#`, are ignored.
 * @throws {SessionError} `INVALID_QUERY` if a line is not a regular expression.
 * @returns A function that throws a `TypeError` if an expression takes too long.
 */
export function secretPatterns(text: string): HideSecrets {
  assertText("text", text);
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const patterns = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const expressions = patterns.map((line) => makeMatchAll(parseExpression(line, "")));
  const replaced = makeLimitedScripts(expressions, HIDDEN)(REPLACED);
  return (texts) =>
    runWithin(REPLACEMENT_MS, replaced, texts).map((shown) => String(shown).replace(HIDDEN_AGAIN, HIDDEN));
}
