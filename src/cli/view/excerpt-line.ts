import type { Excerpt } from "../../view/excerpt.ts";
import type { Output } from "../output.ts";
import { truncate, widthOf } from "../text/width.ts";

/**
 * Returns one line: short facts, which may be coloured, and as much of an excerpt as fits behind them.
 *
 * @param out - Tells how wide a line is.
 */
export function excerptLine(facts: readonly string[], { text, isError }: Excerpt, out: Output): string {
  const front = facts.join(" ");
  const shown = truncate(text, Math.max(0, out.width - widthOf(front) - 2));
  return `${front}  ${isError ? out.colours.red(shown) : shown}`.trimEnd();
}
