import { toJson } from "../../core/context/message-parts.ts";
import { type ContentPart, formatOutputTitle, getEntryContent } from "../../core/facts/entry-content.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { getEntryKind } from "../text/entry-kind.ts";
import { formatImage } from "../text/stored-values.ts";
import { formatEntryTime, joinFacts } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

/** Formats facts about an entry on one line: its id, kind, time, outcome, label, and whether it is on an abandoned branch. */
export function formatEntryHeading(session: RecalledSession, ordinal: number): string {
  const { tree, view } = session;
  const entry = session.entryAt(ordinal);
  const id = tree.idAt(ordinal);
  const label = view.labels.get(id)?.label ?? "";
  return joinFacts(
    `entry ${id}`,
    getEntryKind(entry).word,
    formatEntryTime(tree.timeAt(ordinal), session.row),
    entry === undefined ? "" : (outcomeOf(entry) ?? ""),
    label === "" ? "" : `label ${JSON.stringify(label)}`,
    session.branchMark(ordinal),
  );
}

/** Formats the content of an entry as plain text, without data that programs stored. */
export function formatEntryText(entry: AnySessionEntry | undefined, withThinking: boolean): string {
  const { parts } = getEntryContent(entry);
  const texts = parts.flatMap((part) => formatPart(part, withThinking));
  return texts.length > 0 ? texts.join("\n") : getExcerpt(entry).text;
}

function formatPart(part: ContentPart, withThinking: boolean): string | string[] {
  switch (part.kind) {
    case "text":
    case "note":
      return part.text;
    case "thinking":
      return withThinking && !part.isRedacted ? `(thinking) ${part.text}` : [];
    case "image":
      return `[image: ${formatImage(part)}]`;
    case "call":
      return `→ ${part.name} ${toJson(part.input ?? {})}`;
    case "output":
      return part.of === "tool" ? part.text : [formatOutputTitle(part), part.text];
    case "data":
      return [];
    case "failure":
      return `${part.of}: ${part.text}`;
  }
}
