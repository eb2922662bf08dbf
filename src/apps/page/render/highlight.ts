import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/**
 * HTML that no session can put anything into: only the two renderers beside this file make it, and both escape all of
 * their input. Only `Html` takes it, and only there is markup set from a text.
 */
export interface SafeHtml {
  readonly __html: string;
}

/** Vouches for HTML. To be called by the renderers in this folder alone. */
export function vouchFor(html: string): SafeHtml {
  return { __html: html };
}

const LANGUAGES = {
  bash,
  c,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const INI = hljs.getLanguage("ini");

/** Names that the languages do not know as their own. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["cpp", "c"],
  ["cc", "c"],
  ["hpp", "c"],
  ["console", "bash"],
  ["shell", "bash"],
  ["jsonl", "json"],
  ["mts", "typescript"],
  ["vue", "xml"],
]);

/** Longer texts stay plain: colors are not worth the wait. */
const LONGEST = 60_000;

/** A key of INI goes on over line ends after each dot, so that its time grows with the square of the text. */
const LONGEST_INI = 8_000;

/** Texts with a longer line stay plain: colors do not help to read it. */
const LONGEST_LINE = 2_000;

/**
 * Grammars try most patterns anew from each character to the end of a word, or of white space: the time grows with the
 * squares of their lengths. So much takes the slowest of them, C, about a second; 60,000 characters of ordinary
 * code have a third of it at most.
 */
const MAX_SQUARES = 3_000_000;

/** Returns the name under which a language is known; undefined if it is not. */
export function findLanguage(name: string): string | undefined {
  const wanted = name.toLowerCase();
  const known = OTHER_NAMES.get(wanted) ?? wanted;
  return hljs.getLanguage(known) === undefined ? undefined : known;
}

/** Guesses the language of a file by its name; undefined for prose, which has no colors. */
export function guessLanguage(path: string): string | undefined {
  const suffix = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  const language = suffix === undefined ? undefined : findLanguage(suffix);
  return language !== undefined && hljs.getLanguage(language)?.name === "Markdown" ? undefined : language;
}

/**
 * Colors a text.
 *
 * Safe by construction: highlight.js escapes `&`, `<`, `>` and quotes in all of its input, and adds nothing but
 * `<span class="hljs-…">` with names out of its grammars.
 *
 * @param language - As `findLanguage` gives it.
 * @returns Undefined if that would take too long: of a long text, line or word.
 */
export function highlightCode(text: string, language: string): SafeHtml | undefined {
  if (text.length > (hljs.getLanguage(language) === INI ? LONGEST_INI : LONGEST) || isSlow(text))
    return undefined;
  return vouchFor(hljs.highlight(text, { language, ignoreIllegals: true }).value);
}

/**
 * Colors a text line by line, so that each line can stand alone; see `highlightCode`.
 *
 * @returns As many pieces as the text has lines.
 */
export function highlightLines(text: string, language: string): SafeHtml[] | undefined {
  const html = highlightCode(text, language)?.__html;
  if (html === undefined) return undefined;
  let open: string[] = [];
  return html.split("\n").map((line) => {
    const start = open.join("");
    for (const [tag] of line.matchAll(/<span [^>]*>|<\/span>/g))
      open = tag === "</span>" ? open.slice(0, -1) : [...open, tag];
    return vouchFor(start + line + "</span>".repeat(open.length));
  });
}

function isSlow(text: string): boolean {
  let squares = 0;
  for (const [run] of text.matchAll(/\s+|\S+/g)) {
    squares += run.length ** 2;
    if (squares > MAX_SQUARES) return true;
  }
  return text.split("\n").some((line) => line.length > LONGEST_LINE);
}
