import { textOf } from "../../../core/context/message-parts.ts";
import { type ContentPart, outputTitle } from "../../../core/facts/entry-content.ts";
import { prettyJson } from "../../text/pretty-json.ts";
import { readColours } from "./terminal-colors.ts";

/** Returns what a part of an entry shows as a text. */
export function textOfPart(part: ContentPart): string {
  switch (part.kind) {
    case "image":
      return "";
    case "call":
      return `${part.name}\n${inputText(part.input)}`;
    case "output":
      return `${outputTitle(part)}\n${readColours(part.text).plain}`;
    case "data":
      return `${part.title}\n${prettyJson(part.value)}`;
    default:
      return part.text;
  }
}

/** Arguments as the page shows them: texts as they are, the rest as JSON. */
function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return textOf(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : prettyJson(value)}`)
    .join("\n");
}

/** Returns what a reader takes along of an entry: what was said; of one without words, all it shows; of an output, its text alone. */
export function textToCopy(parts: readonly ContentPart[]): string {
  const said = parts.filter(({ kind }) => kind === "text");
  const chosen = said.length > 0 ? said : parts;
  const texts = chosen.map((part) =>
    part.kind === "output" ? readColours(part.text).plain : textOfPart(part),
  );
  return texts.filter(Boolean).join("\n\n");
}
