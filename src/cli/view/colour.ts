import type { Colours } from "../output.ts";
import type { KindStyle } from "./entry-kind.ts";

type Paint = (text: string) => string;

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
