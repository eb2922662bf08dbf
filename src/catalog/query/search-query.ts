import { assertText } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { QuestionWord } from "./words.ts";

/** Options for parsing a query. */
export interface QueryOptions {
  /** Whether the query is a regular expression. Default false. */
  readonly regex?: boolean;
  /** Default false. */
  readonly caseSensitive?: boolean;
  /**
   * Whether an entry must contain all words or, for a question, any of them. With `any`, entries with the most and rarest words
   * come first, and English word endings are ignored. Quoted phrases are always required. Default `all`.
   */
  readonly match?: "all" | "any";
}

/** Parsed query. */
export interface SearchQuery {
  /** Words and phrases, all required, anywhere in an entry; empty for a regular expression. */
  readonly terms: readonly string[];
  /** Words of a question; an entry must contain at least one. Undefined if the query is not a question. */
  readonly words?: readonly QuestionWord[];
  /** Source of a regular expression, instead of words. */
  readonly regex: string | undefined;
  readonly caseSensitive: boolean;
}

/** Maximum length of a query, in UTF-16 units. Longer queries are too slow on strings that almost match. */
const MAX_UNITS = 2_000;

/** Maximum number of words and phrases per query. */
export const MAX_TERMS = 32;

/** Quoted phrase. */
export const QUOTED = /(?<!\S)"([^"]*)"(?!\S)/g;

/** Quoted phrase or word. An opening quote is an ordinary character unless a closing quote follows at the end of a word. */
const TERM = /"([^"]*)"(?!\S)|\S+/g;

/**
 * Parses a user's query: words in any order, `"a phrase"` in quotes, or a regular expression.
 *
 * Words also match within longer words, such as `time` in `timeout`. White space in a phrase matches any white space.
 *
 * @returns A query without terms if the string does not contain any.
 * @throws {SessionError} `INVALID_QUERY` if the query is too long, has too many words, or is not a valid regular
 *   expression.
 */
export function parseQuery(text: string, options: QueryOptions = {}): SearchQuery {
  assertText("query", text);
  const { regex = false, caseSensitive = false } = options;
  if (text.length > MAX_UNITS) {
    throw makeInvalidError(
      `The search has ${text.length} characters, but at most ${MAX_UNITS} are allowed; shorten it.`,
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
      `The search has ${wanted.length} words, but at most ${MAX_TERMS} are allowed; use only the rarest words.`,
    );
  }
  return { terms: wanted, regex: undefined, caseSensitive };
}

/** Returns whether a query is empty and therefore matches every string. */
export function isEmptyQuery({ terms, regex, words = [] }: SearchQuery): boolean {
  return terms.length === 0 && regex === undefined && words.length === 0;
}

/**
 * Returns the words that an entry must contain to match a query, each in any of its strings, for backends that index
 * entries. Compare them with `hasWord`.
 *
 * @returns Empty if any entry may match, as for a regular expression.
 */
export function getRequiredWords({ terms }: SearchQuery): string[] {
  return [...new Set(terms.flatMap((term) => term.split(/\s+/)))];
}

/**
 * Returns whether a string contains a required word, ignoring case. Returns true for every string that matches the query, and for
 * few other strings.
 *
 * Compares in upper case, which maps each character independently of its neighbors.
 */
export function hasWord(text: string, word: string): boolean {
  return text.toUpperCase().includes(word.toUpperCase());
}

/**
 * Compiles the source as a Unicode expression or, failing that, by the older, looser rules. Throws `INVALID_QUERY` if
 * both fail.
 */
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

/** Creates the error for an invalid query. */
export function makeInvalidError(why: string, cause?: unknown): SessionError {
  return new SessionError("INVALID_QUERY", why, { cause });
}

/** Roles of searchable messages, and of the summaries that replace messages. */
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

/** Filters for the searched entries, independent of the query. */
export interface SearchFilters {
  /** Only messages with these roles; summaries are `compactionSummary` and `branchSummary`. Default: all. */
  readonly roles?: readonly string[];
  /** Only calls and results of these tools, ignoring case. Default: all entries. */
  readonly tools?: readonly string[];
  /**
   * Only calls that refer to this file or to a file in this folder, and their results. A relative path may begin
   * anywhere below the session's working directory. Default: all entries.
   */
  readonly path?: string;
  /**
   * Only failures of tools, commands, and models. Also searches for words in the tool's name and in the arguments of its call.
   * Default false.
   */
  readonly failed?: boolean;
  /** Only entries at or after this time. */
  readonly since?: Date;
  /** Only entries before this time. */
  readonly until?: Date;
  /** Only sessions imported from this program or, with `any`, from any program. Default: all sessions. */
  readonly source?: string;
  /** Whether to search only the path to the session's leaf (`active`) or all entries (`any`). Default `any`. */
  readonly branch?: "active" | "any";
}

/** Returns whether the filters select entries by themselves, so that no query is required. */
export function isNamingEntries({ tools, path, failed = false }: SearchFilters): boolean {
  return failed || tools !== undefined || path !== undefined;
}
