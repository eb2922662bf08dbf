import type { EntryKind, Tone } from "../../text/entry-kind.ts";
import type { Colours } from "../output.ts";
import { column } from "../text/width.ts";

type Paint = (text: string) => string;

/** Columns of the longest known kind. */
export const KIND_WIDTH = 14;

/** The colour of each tone of entry. */
export function paintOf(colours: Colours, tone: Tone): Paint {
  const paints: { readonly [name in Tone]: Paint } = {
    user: (text) => colours.bold(colours.cyan(text)),
    assistant: colours.green,
    tool: colours.dim,
    command: colours.yellow,
    summary: (text) => colours.bold(colours.magenta(text)),
    quiet: colours.dim,
    damaged: colours.red,
  };
  return paints[tone];
}

/** Writes an entry's kind as a column, in its colour. */
export function kindColumn(colours: Colours, { word, tone }: EntryKind): string {
  return paintOf(colours, tone)(column(word, KIND_WIDTH));
}
