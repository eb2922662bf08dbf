import type { Excerpt } from "../../../core/facts/excerpt.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { EntryTree } from "../../../core/tree/entry-tree.ts";
import type { EntryKind, Tone } from "../../text/entry-kind.ts";
import type { Colors, Output } from "../output.ts";
import { fitColumn, measureWidth, truncateLine, wrapText } from "../text/width.ts";

/** Minimum width, in columns, for text after facts; if there is less space, the text is on a separate line. */
export const MIN_TEXT_WIDTH = 24;

/** Indentation of text on a separate line. */
const INDENT = 4;

/** Formats as much text as fits after short facts, which may be colored, or on two separate lines below them. */
export function formatTextAfter(
  front: string,
  text: string,
  out: Output,
  paint: (text: string) => string = String,
): string {
  const room = out.width - measureWidth(front) - 2;
  if (room >= Math.min(MIN_TEXT_WIDTH, measureWidth(text)))
    return `${front}  ${text === "" ? "" : paint(truncateLine(text, room))}`.trimEnd();
  const width = out.width - INDENT;
  const [line = "", ...rest] = wrapText(text, width);
  const below = rest.length === 0 ? [line] : [line, truncateLine(rest.join(" "), width)];
  return [front.trimEnd(), ...below.map((one) => `${" ".repeat(INDENT)}${paint(one)}`)].join("\n");
}

/** Formats short facts, which may be colored, and as much of an excerpt as fits. */
export function formatExcerptLine(facts: readonly string[], { text, isError }: Excerpt, out: Output): string {
  return formatTextAfter(facts.join(" "), text, out, isError ? out.colors.red : String);
}

type Paint = (text: string) => string;

/** Width, in columns, of the longest known kind. */
export const KIND_WIDTH = 14;

/** Returns the color of a tone. */
export function choosePaint(colors: Colors, tone: Tone): Paint {
  const paints: { readonly [name in Tone]: Paint } = {
    user: (text) => colors.bold(colors.cyan(text)),
    assistant: colors.green,
    tool: colors.dim,
    command: colors.yellow,
    summary: (text) => colors.bold(colors.magenta(text)),
    quiet: colors.dim,
    damaged: colors.red,
  };
  return paints[tone];
}

/** Formats an entry's kind as a colored column. */
export function formatKindColumn(colors: Colors, { word, tone }: EntryKind): string {
  return choosePaint(colors, tone)(fitColumn(word, KIND_WIDTH));
}

/** Returns the length of the longest id. In a pipe, ids are complete. */
export function measureLongest(ids: Iterable<string>): number {
  let length = 0;
  for (const id of ids) length = Math.max(length, id.length);
  return length;
}

/** Formats the beginning of an id. */
export function takeShortId(id: string, length: number): string {
  return truncateLine(toPlainLine(id.slice(0, length)), length);
}

/** Yields the ids of all entries. */
export function* listIds(tree: EntryTree): Generator<string, void> {
  for (const ordinal of tree.ordinals()) yield tree.idAt(ordinal);
}
