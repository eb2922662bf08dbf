import {
  type ContentPart,
  formatOutputTitle,
  getEntryContent,
  getMessageContent,
} from "../../../core/facts/entry-content.ts";
import { toPlainLine, toPlainText } from "../../../core/facts/plain-text.ts";
import { shortenLines } from "../../../core/facts/shorten-lines.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { toSafeString } from "../../../core/format/json.ts";
import { formatImage, formatJson } from "../../text/stored-values.ts";
import type { Output } from "../output.ts";

/** Content of an entry; every string is safe to print. */
export interface EntryDetails {
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly blocks: readonly DetailBlock[];
}

/** Text of an entry, with a title. */
export interface DetailBlock {
  /** Title; empty for the entry's main text. */
  readonly title: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Maximum length of a value displayed as a fact; longer values are displayed as blocks. */
const LONGEST_FACT = 60;

/**
 * Returns the content of an entry for display: short values, text, and other stored values; undefined means a damaged
 * body.
 */
export function getEntryDetails(entry: AnySessionEntry | undefined): EntryDetails {
  const { parts, others } = getEntryContent(entry);
  const facts = others.filter(([, value]) => isFact(value));
  const long = others.filter(([, value]) => !isFact(value));
  const blocks = [
    ...parts.map(toDetailBlock),
    ...long.map(([title, value]) => toDetailBlock({ kind: "data", title, value })),
  ];
  return {
    facts: facts.map(([name, value]) => [toPlainLine(name), toPlainLine(toSafeString(value))]),
    blocks: blocks.map(toHarmless),
  };
}

/** Returns an entry's text for display, without the data that programs store with it. */
export function getTextBlocks(entry: AnySessionEntry | undefined): DetailBlock[] {
  const { parts } = getEntryContent(entry);
  return parts
    .filter(({ kind }) => kind !== "data")
    .map(toDetailBlock)
    .map(toHarmless);
}

/** Returns the content of a message that a model receives, for display. */
export function getMessageBlocks(message: unknown): DetailBlock[] {
  return getMessageContent(message).map(toDetailBlock).map(toHarmless);
}

function toHarmless({ isError, title, text }: DetailBlock): DetailBlock {
  return { isError, title: toPlainLine(title), text: toPlainText(text) };
}

function isFact(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_FACT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function toDetailBlock(part: ContentPart): DetailBlock {
  const block = (title: string, text: string) => ({ title, text, isError: part.kind === "failure" });
  switch (part.kind) {
    case "text":
    case "note":
    case "failure":
      return block("", part.text);
    case "thinking":
      return block("thinking", part.isRedacted ? "(withheld)" : part.text);
    case "call":
      return block(`→ ${part.name}`, formatJson(part.input));
    case "image":
      return block("image", formatImage(part));
    case "output":
      // The name of a tool is among the facts.
      return block(part.of === "tool" ? "" : formatOutputTitle(part), part.text);
    case "data":
      return block(part.title, typeof part.value === "string" ? part.value : formatJson(part.value));
  }
}

/** Maximum size of text in an entry that is shown as context for the requested entry. */
const SHORT = { maxLines: 30, maxLineLength: 1000 };

/**
 * Writes the content of an entry, block by block.
 *
 * @param isShort - Whether to shorten long text and add a line that states how much is omitted. Default false.
 * @returns Whether a text was shortened.
 */
export function writeBlocks(out: Output, blocks: readonly DetailBlock[], isShort = false): boolean {
  let isCut = false;
  for (const { title, text, isError } of blocks) {
    const shown = isShort ? shortenLines(text, SHORT) : text;
    isCut ||= shown !== text;
    out.line();
    if (title !== "") out.line(out.colors.bold(title));
    out.line(isError ? out.colors.red(shown) : shown);
  }
  return isCut;
}
