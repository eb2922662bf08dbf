import { toPlainLine, toPlainText } from "../../core/facts/plain-text.ts";

/** Beginning or end of a fenced block, as in CommonMark. */
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Fenced block that begins on the line of a list's marker. */
const FENCE_IN_LIST = /^(\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)+)((?:`{3,}|~{3,}).*)$/;

/** Part of a fence's info string that is kept. Some Markdown parsers treat a longer info string as a table. */
const LANGUAGE = /^ *[\w+#.-]+/;

const TABLE = /^[\s|:-]*-[\s|:-]*$/;

const HEADING = /^( {0,3})(#{1,6})(?=[ \t]|$)/;

/** Line that turns the line above it into a heading, possibly in quotes or lists. */
const UNDERLINE = /^([\s>]*)(?:=+|-+)\s*$/;

/** Line without text, possibly in a quote. */
const EMPTY = /^(?: {0,3}>)*\s*$/;

/** Horizontal rule, which does not belong to a paragraph. */
const RULE = /^ {0,3}-{3,}\s*$/;

/** List item; an unindented underline below it does not create a heading. */
const ITEM = /^ {0,3}[-*+][ \t]+\S/;

/** Number of levels by which headings in messages are lowered, so that they are below the transcript's headings. */
const HEADING_SHIFT = 3;
const LOWEST_HEADING = 6;

/** Escaped characters, runs of backticks, addresses in angle brackets, and possible beginnings of HTML elements. */
const SPANS = /\\[!-/:-@[-`{-~]|`+|<(?:https?:\/\/|mailto:)[^\s<>]*>|<(?=[A-Za-z/!?])/g;

/** Characters with a special meaning in the middle of a Markdown line. */
const SPECIAL = /[\\`*_{}[\]<>#|~&!]/g;

/** Formats a fenced block whose fence is longer than any run of backticks in the text; the language only affects colors. */
export function fenceText(text: string, language = ""): string {
  const plain = toPlainText(text);
  const fence = "`".repeat(Math.max(3, measureLongestRun(plain) + 1));
  return `${fence}${language}\n${plain}${plain.endsWith("\n") || plain === "" ? "" : "\n"}${fence}`;
}

/** Escapes a short string so that Markdown displays it unchanged. */
export function escapeMarkdown(text: string): string {
  return toPlainLine(text).replace(SPECIAL, "\\$&");
}

/** Formats a short string as code. */
export function formatCode(text: string): string {
  const plain = toPlainLine(text);
  if (plain === "") return "";
  const ticks = "`".repeat(measureLongestRun(plain) + 1);
  const space = /^`|`$/.test(plain) ? " " : "";
  return `${ticks}${space}${plain}${space}${ticks}`;
}

/**
 * Adapts Markdown from a message so that it stays within its entry: lowers its headings, escapes underlines of headings, closes
 * an open code block, and escapes possible HTML elements outside of code.
 *
 * Text is treated as code only if that is certain: in lists, fences are moved to the margin, and a code span must end on its own
 * line.
 */
export function adoptMarkdown(text: string): string {
  const lines = toPlainText(text)
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, marker = "", fence = ""] = FENCE_IN_LIST.exec(line) ?? [];
      return fence === "" ? [line] : [marker.trimEnd(), fence];
    });
  const result: string[] = [];
  let fence = "";
  let isCertain = true;
  /** Line above, if it may belong to a paragraph. */
  let above = "";
  lines.forEach((line, i) => {
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    if (fence !== "") {
      if (mark.startsWith(fence) && info.trim() === "") fence = "";
      above = "";
      result.push(line);
    } else if (mark !== "" && !(mark.startsWith("`") && info.includes("`"))) {
      fence = mark;
      isCertain = true;
      result.push(mark + (LANGUAGE.exec(info)?.[0] ?? ""));
    } else {
      if (line.trim() === "") isCertain = true;
      if (TABLE.test(lines[i + 1] ?? "")) isCertain = false;
      const lowered = escapeUnderline(line.replace(HEADING, lowerHeading), above);
      const { text: shown, isClosed } = withoutHtml(lowered, isCertain);
      if (!isClosed) isCertain = false;
      above = HEADING.test(shown) || RULE.test(shown) ? "" : shown;
      result.push(shown);
    }
  });
  return [...result, ...(fence === "" ? [] : [fence])].join("\n");
}

/** Formats a short string as HTML code, for places where Markdown is not parsed. */
export function formatHtmlCode(text: string): string {
  const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return `<code>${toPlainLine(text).replace(/[&<>]/g, (found) => escapes[found] ?? found)}</code>`;
}

/** Formats text as a section that is collapsed by default. */
export function foldText(summary: string, text: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${text}\n\n</details>`;
}

function lowerHeading(_: string, indent: string, marks: string): string {
  return indent + "#".repeat(Math.min(LOWEST_HEADING, marks.length + HEADING_SHIFT));
}

/** Escapes a line that would turn the line above it into a heading. */
function escapeUnderline(line: string, above: string): string {
  const indent = UNDERLINE.exec(line)?.[1];
  if (indent === undefined || EMPTY.test(above) || (indent === "" && ITEM.test(above))) return line;
  return `${indent}\\${line.slice(indent.length)}`;
}

/** Escapes possible HTML elements, except in code spans if `withCode`; also returns whether the line closes all of its spans. */
function withoutHtml(line: string, withCode: boolean): { text: string; isClosed: boolean } {
  let text = "";
  let done = 0;
  let isClosed = true;
  for (const { 0: found, index } of line.matchAll(SPANS)) {
    if (index < done) continue;
    let end = index + found.length;
    let shown = found;
    if (found === "<") shown = "&lt;";
    else if (found.startsWith("`")) {
      const close = findClose(line, end, found.length);
      if (close === -1) isClosed = false;
      else if (withCode) end = close;
      shown = line.slice(index, end);
    }
    text += line.slice(done, index) + shown;
    done = end;
  }
  return { text: text + line.slice(done), isClosed };
}

/** Returns the end of a code span that began with a run of `length` backticks, or -1. */
function findClose(text: string, from: number, length: number): number {
  for (let at = text.indexOf("`", from); at !== -1; at = text.indexOf("`", at)) {
    const start = at;
    while (text[at] === "`") at++;
    if (at - start === length) return at;
  }
  return -1;
}

function measureLongestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
