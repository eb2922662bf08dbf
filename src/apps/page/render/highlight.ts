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
 * HTML that is safe from markup injected by a session: only the two renderers in this folder create it, and both escape all of
 * their input. Only `Html` accepts it, and only that component sets markup from a string.
 */
export interface SafeHtml {
  readonly __html: string;
}

/** Marks HTML as safe. Only the renderers in this folder may call this. */
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

/** Additional names for languages that highlight.js does not list as aliases. */
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

/** Maximum length of colored text, in characters; coloring longer text is not worth the wait. */
const LONGEST = 60_000;

/**
 * Maximum length of colored INI text, in characters: an INI key continues on the next line after each dot, so the time grows with
 * the square of the text's length.
 */
const LONGEST_INI = 8_000;

/** Maximum length of a line in colored text, in characters; colors do not make longer lines easier to read. */
const LONGEST_LINE = 2_000;

/**
 * Maximum sum of the squared lengths of words and white space. Grammars retry most patterns from each character to the end of a
 * word, or of white space, so the time grows with these squares. At this sum, C, the slowest grammar, takes about a second;
 * 60,000 characters of ordinary code reach at most a third of it.
 */
const MAX_SQUARES = 3_000_000;

/** Returns the registered name of a language; undefined if the language is unknown. */
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
 * Safe by construction: highlight.js escapes `&`, `<`, `>`, and quotes in all of its input, and adds only `<span class="hljs-…">`
 * with names from its grammars.
 *
 * @param language - Name returned by `findLanguage`.
 * @returns Undefined if coloring would take too long because the text, a line, or a word is too long.
 */
export function highlightCode(text: string, language: string): SafeHtml | undefined {
  if (text.length > (hljs.getLanguage(language) === INI ? LONGEST_INI : LONGEST) || isSlow(text))
    return undefined;
  return vouchFor(hljs.highlight(text, { language, ignoreIllegals: true }).value);
}

/**
 * Colors text line by line, so that each line is complete HTML on its own; see `highlightCode`.
 *
 * @returns One piece per line of the text; undefined in the same cases as for `highlightCode`.
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
