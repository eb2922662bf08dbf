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
import { type SafeHtml, vouchFor } from "./safe-html.ts";

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

/** Longer texts stay plain: colours are not worth the wait. */
const LONGEST = 60_000;

/** Gives the name under which a language is known; undefined if it is not. */
export function languageNamed(name: string): string | undefined {
  const wanted = name.toLowerCase();
  const known = OTHER_NAMES.get(wanted) ?? wanted;
  return hljs.getLanguage(known) === undefined ? undefined : known;
}

/** Guesses the language of a file by its name; undefined for prose, which has no colours. */
export function languageOfFile(path: string): string | undefined {
  const suffix = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  const language = suffix === undefined ? undefined : languageNamed(suffix);
  return language !== undefined && hljs.getLanguage(language)?.name === "Markdown" ? undefined : language;
}

/**
 * Colours a text.
 *
 * Safe by construction: highlight.js escapes `&`, `<`, `>` and quotes in all that it is given, and adds nothing but
 * `<span class="hljs-…">` with names out of its grammars.
 *
 * @param language - As `languageNamed` gives it.
 * @returns Undefined if the text is too long to be coloured.
 */
export function highlightCode(text: string, language: string): SafeHtml | undefined {
  if (text.length > LONGEST) return undefined;
  return vouchFor(hljs.highlight(text, { language, ignoreIllegals: true }).value);
}
