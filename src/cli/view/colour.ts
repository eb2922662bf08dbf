import type { EntryKind, KindStyle } from "../../view/entry-kind.ts";
import type { Colours } from "../output.ts";
import { column } from "../text/width.ts";

type Paint = (text: string) => string;

/** Columns of the longest known kind. */
export const KIND_WIDTH = 14;

/** The colour of each style of entry. */
export function paintOf(colours: Colours, style: KindStyle): Paint {
  const paints: { readonly [name in KindStyle]: Paint } = {
    user: (text) => colours.bold(colours.cyan(text)),
    assistant: colours.green,
    tool: colours.dim,
    command: colours.yellow,
    summary: (text) => colours.bold(colours.magenta(text)),
    quiet: colours.dim,
    damaged: colours.red,
  };
  return paints[style];
}

/** Writes an entry's kind as a column, in its colour. */
export function kindColumn(colours: Colours, { word, style }: EntryKind): string {
  return paintOf(colours, style)(column(word, KIND_WIDTH));
}
