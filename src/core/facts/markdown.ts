import { headOf } from "../context/message-parts.ts";

/** Characters of a text that are looked at: it stands on one line. */
const MOST_READ = 4000;

/** The fences of a block of code, with its language. */
const FENCE = /^ {0,3}(?:```|~~~)[^`\n]*$/gm;

const HEADING = /^ {0,3}#{1,6} +/gm;
const LINK = /!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g;
const BOLD = /(?<!\w)\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?!\w)/g;
const EMPHASIS = /(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const CODE = /(`+)([^`\n]+)\1/g;

/** How Claude Code notes a command with a slash that a user typed. */
const TYPED_COMMAND = /^<command-(?:message|name)>/;

/** Returns such a command as it was typed, and any other text as it is. */
function asTyped(text: string): string {
  if (!TYPED_COMMAND.test(text)) return text;
  const inside = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(text)?.[1] ?? "";
  return `${inside("command-name")} ${inside("command-args")}`.trim() || text;
}

/**
 * Takes the marks of headings, links, emphasis and code out of the beginning of a Markdown text: `## **Goal**` becomes
 * `Goal`. A command with a slash loses its tags. What may mean something else stays, such as `*.ts`, `a * b` and `__init__`.
 *
 * @returns The first 4,000 characters at most.
 */
export function withoutMarkdown(text: string): string {
  return asTyped(headOf(text.trimStart(), MOST_READ))
    .replace(FENCE, "")
    .replace(HEADING, "")
    .replace(LINK, "$1")
    .replace(BOLD, "$1")
    .replace(EMPHASIS, "$1")
    .replace(CODE, "$2");
}
