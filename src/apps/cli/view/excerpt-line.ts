import type { Excerpt } from "../../../core/facts/excerpt.ts";
import type { Output } from "../output.ts";
import { truncate, widthOf, wrap } from "../text/width.ts";

/** Columns that a text gets at least behind facts; where there are fewer, it gets a line of its own. */
export const LEAST_TEXT_WIDTH = 24;

/** Columns before a text on a line of its own. */
const INDENT = 4;

/** Puts as much of a text behind short facts, which may be coloured, as fits, or on two lines of its own below them. */
export function textBehind(
  front: string,
  text: string,
  out: Output,
  paint: (text: string) => string = String,
): string {
  const room = out.width - widthOf(front) - 2;
  if (room >= Math.min(LEAST_TEXT_WIDTH, widthOf(text)))
    return `${front}  ${text === "" ? "" : paint(truncate(text, room))}`.trimEnd();
  const width = out.width - INDENT;
  const [line = "", ...rest] = wrap(text, width);
  const below = rest.length === 0 ? [line] : [line, truncate(rest.join(" "), width)];
  return [front.trimEnd(), ...below.map((one) => `${" ".repeat(INDENT)}${paint(one)}`)].join("\n");
}

/** Returns short facts, which may be coloured, and as much of an excerpt as fits. */
export function excerptLine(facts: readonly string[], { text, isError }: Excerpt, out: Output): string {
  return textBehind(facts.join(" "), text, out, isError ? out.colours.red : String);
}
