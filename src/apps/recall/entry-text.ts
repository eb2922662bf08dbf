import { jsonOf } from "../../core/context/message-parts.ts";
import { type ContentPart, contentOf, outputTitle } from "../../core/facts/entry-content.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { kindOf } from "../text/entry-kind.ts";
import { imageText } from "../text/stored-values.ts";
import { joined, timeText } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

/** Writes what an entry is, in one line: its id, kind, time, outcome, and whether its branch was left. */
export function entryHeading(session: RecalledSession, ordinal: number): string {
  const { tree, view } = session;
  const entry = session.entryAt(ordinal);
  const id = tree.idAt(ordinal);
  const label = view.labels.get(id)?.label ?? "";
  return joined(
    `entry ${id}`,
    kindOf(entry).word,
    timeText(tree.timeAt(ordinal)),
    entry === undefined ? "" : (outcomeOf(entry) ?? ""),
    label === "" ? "" : `label ${JSON.stringify(label)}`,
    session.branchMark(ordinal),
  );
}

/** Writes what an entry says as plain text; what programs stored is left out. */
export function entryText(entry: AnySessionEntry | undefined, withThinking: boolean): string {
  const { parts } = contentOf(entry);
  const texts = parts.flatMap((part) => partText(part, withThinking));
  return texts.length > 0 ? texts.join("\n") : excerptOf(entry).text;
}

function partText(part: ContentPart, withThinking: boolean): string | string[] {
  switch (part.kind) {
    case "text":
    case "note":
      return part.text;
    case "thinking":
      return withThinking && !part.isRedacted ? `(thinking) ${part.text}` : [];
    case "image":
      return `[image: ${imageText(part)}]`;
    case "call":
      return `→ ${part.name} ${jsonOf(part.input ?? {})}`;
    case "output":
      return part.of === "tool" ? part.text : [outputTitle(part), part.text];
    case "data":
      return [];
    case "failure":
      return `${part.of}: ${part.text}`;
  }
}
