import { takeStart } from "../context/message-parts.ts";
import { toTypedCommand } from "./user-text.ts";

/**
 * Escape sequences that set colors or clear the rest of a line, as grep does after each color. Tool output often contains them.
 * They are removed because they carry no information.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
export const COLOR = /\u001b\[(?:[0-9;:]*m|[0-2]?K)/g;

/**
 * Characters that could control a terminal or reorder its text: control characters, direction marks, invisible separators, tag
 * characters, and lone surrogates.
 */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0001}-\u{e007f}]|\p{Surrogate}/gu;

/** Matches text that needs no changes, which is the most common case. One test costs less than three replacements. */
const HARMLESS = /^[\t\n -~]*$/;

/** Matches words separated by single spaces, a line that needs no changes. */
const LINE = /^[!-~]+(?: [!-~]+)*$/;

/** White space other than a single space. */
const WIDE_SPACE = / \s+|[^\S ]\s*/g;

const DELETE = 0x7f;

/** Maximum number of characters to read for a line, so that very long strings cost no more than short ones. */
const MAX_READ = 4000;

/**
 * Makes text from a session safe for a terminal. Keeps line breaks and tabs.
 *
 * Removes colors. Replaces other control characters with visible symbols, so that nothing is hidden.
 */
export function toPlainText(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.replace(/\r\n?/g, "\n").replace(COLOR, "").replace(HARMFUL, toPicture);
}

/** Invisible characters, which can be used to hide text. Excludes characters that join letters and emoji. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}/gu;

/** Joiners that do not join letters or emoji. */
const IDLE_JOINERS = /(?<=[\t\n -~])(?:\u200c|\u200d|\ufe0f)+(?=[\t\n -~])/g;

/**
 * Removes control and invisible characters from a string, for readers other than terminals. Keeps line breaks and tabs.
 *
 * @param substitute - Replaces each removed character.
 */
export function withoutHarmful(text: string, substitute = ""): string {
  if (HARMLESS.test(text)) return text;
  return [COLOR, HARMFUL, INVISIBLE, IDLE_JOINERS].reduce(
    (visible, pattern) => visible.replace(pattern, substitute),
    text.replace(/\r\n?/g, "\n"),
  );
}

/** Returns the beginning of a string as one safe line. Each run of white space is replaced with a single space. */
export function toPlainLine(text: string): string {
  return toWholeLine(text.trimStart().slice(0, MAX_READ));
}

/** Maximum number of characters in a shortened line. */
const LONGEST = 400;

/** Returns the beginning of a string as one safe line, with an ellipsis if the string is longer. */
export function toShortLine(text: string, longest = LONGEST): string {
  const line = toPlainLine(text);
  return line.length > longest ? `${takeStart(line, longest - 1).trimEnd()}…` : line;
}

/** Returns a whole string as one safe line. Each run of white space is replaced with a single space. */
export function toWholeLine(text: string): string {
  return LINE.test(text) ? text : toPlainText(text).replace(WIDE_SPACE, " ").trim();
}

/** Formats fields as a tab-separated line for programs. Fields are not shortened and contain no tabs. */
export function joinTabs(fields: readonly (string | number)[]): string {
  return fields.map((field) => toWholeLine(String(field))).join("\t");
}

/** Escapes characters in JSON that a terminal could interpret as commands. The JSON value does not change. */
export function toPlainJson(json: string): string {
  return json.replace(HARMFUL, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${toHex(found.charCodeAt(i))}`).join(""),
  );
}

/** Returns a visible substitute for a nonprintable character. */
function toPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === DELETE ? "\u2421" : "\ufffd";
}

function toHex(code: number): string {
  return code.toString(16).padStart(4, "0");
}

/** Fence of a code block, with its language. */
const FENCE = /^ {0,3}(?:```|~~~)[^`\n]*$/gm;

const HEADING = /^ {0,3}#{1,6} +/gm;
const LINK = /!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g;
const BOLD = /(?<!\w)\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?!\w)/g;
const EMPHASIS = /(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const CODE = /(`+)([^`\n]+)\1/g;

/**
 * Removes the syntax for headings, links, emphasis, and code from the beginning of Markdown text: `## **Goal**` becomes `Goal`.
 * Removes the tags of a slash command. Keeps ambiguous characters, such as those in `*.ts`, `a * b`, and `__init__`.
 *
 * @returns At most the first 4,000 characters.
 */
export function withoutMarkdown(text: string): string {
  return toTypedCommand(takeStart(text.trimStart(), MAX_READ))
    .replace(FENCE, "")
    .replace(HEADING, "")
    .replace(LINK, "$1")
    .replace(BOLD, "$1")
    .replace(EMPHASIS, "$1")
    .replace(CODE, "$2");
}
