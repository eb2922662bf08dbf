import { toPlainLine, toPlainText } from "../../../core/facts/plain-text.ts";

/** The beginning or end of a fenced block, as CommonMark has it. */
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** A fenced block that begins on the line of a list's marker. */
const FENCE_IN_LIST = /^(\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)+)((?:`{3,}|~{3,}).*)$/;

/** Of what stands behind a fence only this much is taken over: some readers take more of it for a table. */
const LANGUAGE = /^ *[\w+#.-]+/;

const TABLE = /^[\s|:-]*-[\s|:-]*$/;

const HEADING = /^( {0,3})(#{1,6})(?=[ \t]|$)/;

/** Headings in what was said are below those of the transcript. */
const HEADING_SHIFT = 3;
const LOWEST_HEADING = 6;

/** Escaped characters, runs of backticks, addresses in angle brackets, and what could begin an HTML element. */
const SPANS = /\\[!-/:-@[-`{-~]|`+|<(?:https?:\/\/|mailto:)[^\s<>]*>|<(?=[A-Za-z/!?])/g;

/** Characters that mean something to Markdown in the middle of a line. */
const SPECIAL = /[\\`*_{}[\]<>#|~&!]/g;

/** Makes a fenced block whose fence is longer than any run of backticks in the text; the language is for colors alone. */
export function fenceText(text: string, language = ""): string {
  const plain = toPlainText(text);
  const fence = "`".repeat(Math.max(3, measureLongestRun(plain) + 1));
  return `${fence}${language}\n${plain}${plain.endsWith("\n") || plain === "" ? "" : "\n"}${fence}`;
}

/** Writes a short text so that Markdown shows it as it is. */
export function escapeMarkdown(text: string): string {
  return toPlainLine(text).replace(SPECIAL, "\\$&");
}

/** Writes a short text as code. */
export function formatCode(text: string): string {
  const plain = toPlainLine(text);
  if (plain === "") return "";
  const ticks = "`".repeat(measureLongestRun(plain) + 1);
  const space = /^`|`$/.test(plain) ? " " : "";
  return `${ticks}${space}${plain}${space}${ticks}`;
}

/**
 * Takes in Markdown that others wrote so that it stays within its entry: its headings become lower ones, a block of
 * code that it left open is closed, and what would begin an HTML element outside of code is text.
 *
 * Where it is not certain that Markdown takes something for code, it counts as none: in lists, fences go to the margin,
 * and a span of code counts only on its own line.
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
  lines.forEach((line, i) => {
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    if (fence !== "") {
      if (mark.startsWith(fence) && info.trim() === "") fence = "";
      result.push(line);
    } else if (mark !== "" && !(mark.startsWith("`") && info.includes("`"))) {
      fence = mark;
      isCertain = true;
      result.push(mark + (LANGUAGE.exec(info)?.[0] ?? ""));
    } else {
      if (line.trim() === "") isCertain = true;
      if (TABLE.test(lines[i + 1] ?? "")) isCertain = false;
      const { text: shown, isClosed } = withoutHtml(line.replace(HEADING, lowerHeading), isCertain);
      if (!isClosed) isCertain = false;
      result.push(shown);
    }
  });
  return [...result, ...(fence === "" ? [] : [fence])].join("\n");
}

/** Writes a short text as code of HTML, for where Markdown is not read. */
export function formatHtmlCode(text: string): string {
  const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return `<code>${toPlainLine(text).replace(/[&<>]/g, (found) => escapes[found] ?? found)}</code>`;
}

/** Puts text into a part that a viewer shows folded. */
export function foldText(summary: string, text: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${text}\n\n</details>`;
}

function lowerHeading(_: string, indent: string, marks: string): string {
  return indent + "#".repeat(Math.min(LOWEST_HEADING, marks.length + HEADING_SHIFT));
}

/** Escapes what would begin an element, maybe not in spans of code; tells whether the line ends all spans that it begins. */
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

/** Where the code span ends that a run of so many backticks began, or -1. */
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
