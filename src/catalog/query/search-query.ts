import { SessionError } from "../../core/format/errors.ts";
import type { QuestionWord } from "./words.ts";

/** How the text of a query is read. */
export interface QueryOptions {
  /** Whether it is a regular expression. Default false. */
  readonly regex?: boolean;
  /** Default false. */
  readonly caseSensitive?: boolean;
  /**
   * Whether an entry must hold all words, or, as for a question, any of them. The entries that hold the most and the rarest
   * words then come first, and endings of English words do not count. Phrases in quotes must always be held. Default
   * `all`.
   */
  readonly match?: "all" | "any";
}

/** What a search looks for. */
export interface SearchQuery {
  /** Words and phrases, each of which an entry must hold, anywhere; empty for a regular expression. */
  readonly terms: readonly string[];
  /** Words of a question, of which an entry must hold one; undefined if it is not a question. */
  readonly words?: readonly QuestionWord[];
  /** Source of a regular expression, instead of words. */
  readonly regex: string | undefined;
  readonly caseSensitive: boolean;
}

/** The most UTF-16 units of a query: a longer one takes too long in texts that nearly hold it. */
const MAX_UNITS = 2_000;

/** The most words and phrases that are looked for at a time. */
export const MAX_TERMS = 32;

/** A phrase in quotes. */
export const QUOTED = /(?<!\S)"([^"]*)"(?!\S)/g;

/** A phrase in quotes, or a word. A quote that is not closed at the end of a word is a character like others. */
const TERM = /"([^"]*)"(?!\S)|\S+/g;

/**
 * Reads what a person looks for: words in any order, `"a phrase"` in quotes, or a regular expression.
 *
 * Words are parts of texts, as `time` is of `timeout`. White space in a phrase stands for any other.
 *
 * @returns A query without terms if the text holds none.
 * @throws {SessionError} `INVALID_QUERY` if it is too long, has too many words, or is no regular expression.
 */
export function parseQuery(text: string, options: QueryOptions = {}): SearchQuery {
  const { regex = false, caseSensitive = false } = options;
  if (text.length > MAX_UNITS) {
    throw makeInvalidError(
      `The search has ${text.length} characters, at most ${MAX_UNITS} are allowed; look for a part.`,
    );
  }
  if (regex) {
    if (text !== "") parseExpression(text, "");
    return { terms: [], regex: text === "" ? undefined : text, caseSensitive };
  }
  const terms = Array.from(text.matchAll(TERM), ([word, phrase]) => (phrase ?? word).trim());
  const wanted = [...new Set(terms.filter((term) => term !== ""))];
  if (wanted.length > MAX_TERMS) {
    throw makeInvalidError(
      `The search has ${wanted.length} words, at most ${MAX_TERMS} are allowed; look for the rarest.`,
    );
  }
  return { terms: wanted, regex: undefined, caseSensitive };
}

/** Returns whether a query looks for nothing, so that every text fits. */
export function isEmptyQuery({ terms, regex, words = [] }: SearchQuery): boolean {
  return terms.length === 0 && regex === undefined && words.length === 0;
}

/**
 * Returns words that the texts of an entry must all hold, each in one of them, to fit a query: for backends that look
 * entries up. `hasWord` compares.
 *
 * @returns Empty if any entry may fit, as for a regular expression.
 */
export function getRequiredWords({ terms }: SearchQuery): string[] {
  return [...new Set(terms.flatMap((term) => term.split(/\s+/)))];
}

/**
 * Tells whether a text holds a required word, in upper case: what fits the query always does, and a little more.
 *
 * Upper case, because it maps each character independently of its neighbors.
 */
export function hasWord(text: string, word: string): boolean {
  return text.toUpperCase().includes(word.toUpperCase());
}

/** Compiles the source as a Unicode expression if possible, else by the older, laxer rules; else throws `INVALID_QUERY`. */
export function parseExpression(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw makeInvalidError(`${JSON.stringify(source)} is not a regular expression; correct it.`, error);
  }
}

/** Makes the error of a query that cannot be searched for. */
export function makeInvalidError(why: string, cause?: unknown): SessionError {
  return new SessionError("INVALID_QUERY", why, { cause });
}

/** Roles of messages that are searched, and of the summaries that stand for messages. */
export const SEARCHED_ROLES = [
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "system",
  "compactionSummary",
  "branchSummary",
] as const;

/** Which entries are searched, whatever they hold. */
export interface SearchFilters {
  /** Only messages of these roles; summaries are `compactionSummary` and `branchSummary`. Default: all. */
  readonly roles?: readonly string[];
  /** Only calls and results of these tools, whatever the case of their names. Default: all entries. */
  readonly tools?: readonly string[];
  /**
   * Only calls that name this file or a file below this folder, and their results. A relative path may begin anywhere below
   * the session's working directory. Default: all entries.
   */
  readonly path?: string;
  /**
   * Only failures, those of tools, commands and models; words are also looked for in the tool's name and in the arguments of its call.
   * Default false.
   */
  readonly failed?: boolean;
  /** Only entries from then on. */
  readonly since?: Date;
  /** Only entries before that time. */
  readonly until?: Date;
  /** Only sessions that were imported from this program, or with `any` from any. Default: all sessions. */
  readonly source?: string;
  /** Whether entries count that are not on the path to the session's leaf. Default `any`. */
  readonly branch?: "active" | "any";
}

/** Tells whether filters name entries by themselves, so that nothing else need be looked for. */
export function isNamingEntries({ tools, path, failed = false }: SearchFilters): boolean {
  return failed || tools !== undefined || path !== undefined;
}
