import { takeStart } from "../context/message-parts.ts";
import { toTypedCommand } from "./user-text.ts";

/**
 * Sequences that color, and that clear the rest of a line as grep writes behind each color: the output of tools is full of
 * them, and they are removed, because they say nothing.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
export const COLOR = /\u001b\[(?:[0-9;:]*m|[0-2]?K)/g;

/**
 * What could drive a terminal or reorder what it shows: control characters, direction marks, invisible separators,
 * tag characters and halves of surrogate pairs.
 */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0001}-\u{e007f}]|\p{Surrogate}/gu;

/** Text that nothing has to be done about, as most is: one look at it costs less than three replacements. */
const HARMLESS = /^[\t\n -~]*$/;

/** Words with a space between them: a line as it should be. */
const LINE = /^[!-~]+(?: [!-~]+)*$/;

/** Runs of white space that are more than a space. */
const WIDE_SPACE = / \s+|[^\S ]\s*/g;

const DELETE = 0x7f;

/** Characters of which a line is made at most, so that a text of megabytes costs no more than a short one. */
const MAX_READ = 4000;

/**
 * Makes text from a session harmless to a terminal; line breaks and tabs stay.
 *
 * Colors are taken out; other control characters are shown as pictures of themselves, so that nothing is hidden.
 */
export function toPlainText(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.replace(/\r\n?/g, "\n").replace(COLOR, "").replace(HARMFUL, toPicture);
}

/** Characters that nobody sees, and that can carry text all the same; those that join letters and emoji stay. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}/gu;

/** Joiners of letters and emoji, where they join neither. */
const IDLE_JOINERS = /(?<=[\t\n -~])(?:\u200c|\u200d|\ufe0f)+(?=[\t\n -~])/g;

/**
 * Removes from a text the characters that a terminal could obey and those that are invisible, for a reader that is not a terminal;
 * line breaks and tabs stay.
 *
 * @param substitute - Put in place of each.
 */
export function withoutHarmful(text: string, substitute = ""): string {
  if (HARMLESS.test(text)) return text;
  return [COLOR, HARMFUL, INVISIBLE, IDLE_JOINERS].reduce(
    (visible, pattern) => visible.replace(pattern, substitute),
    text.replace(/\r\n?/g, "\n"),
  );
}

/** Makes harmless text of one line, of a long text its beginning: each run of white space becomes one space. */
export function toPlainLine(text: string): string {
  return toWholeLine(text.trimStart().slice(0, MAX_READ));
}

/** Characters of a line that stands for a longer text. */
const LONGEST = 400;

/** Makes one harmless line of the beginning of a text, with an ellipsis where it is longer than the line. */
export function toShortLine(text: string, longest = LONGEST): string {
  const line = toPlainLine(text);
  return line.length > longest ? `${takeStart(line, longest - 1).trimEnd()}…` : line;
}

/** Makes harmless text of one line, however long: each run of white space becomes one space. */
export function toWholeLine(text: string): string {
  return LINE.test(text) ? text : toPlainText(text).replace(WIDE_SPACE, " ").trim();
}

/** Writes the fields of a line for programs: whole, with tabs between them and none in them. */
export function joinTabs(fields: readonly (string | number)[]): string {
  return fields.map((field) => toWholeLine(String(field))).join("\t");
}

/** Escapes in JSON what a terminal could take for a command; the value that it stands for is the same. */
export function toPlainJson(json: string): string {
  return json.replace(HARMFUL, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${toHex(found.charCodeAt(i))}`).join(""),
  );
}

/** A visible stand-in for a character that is not printed. */
function toPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === DELETE ? "\u2421" : "\ufffd";
}

function toHex(code: number): string {
  return code.toString(16).padStart(4, "0");
}

/** The fences of a block of code, with its language. */
const FENCE = /^ {0,3}(?:```|~~~)[^`\n]*$/gm;

const HEADING = /^ {0,3}#{1,6} +/gm;
const LINK = /!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g;
const BOLD = /(?<!\w)\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?!\w)/g;
const EMPHASIS = /(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const CODE = /(`+)([^`\n]+)\1/g;

/**
 * Takes the marks of headings, links, emphasis and code out of the beginning of a Markdown text: `## **Goal**` becomes
 * `Goal`. A command with a slash loses its tags. What may mean something else stays, such as `*.ts`, `a * b` and `__init__`.
 *
 * @returns The first 4,000 characters at most.
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
