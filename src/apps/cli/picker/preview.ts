import { excerptOf } from "../../../core/facts/excerpt.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import { kindOf, type Tone } from "../../text/entry-kind.ts";
import type { PreviewLine } from "./state.ts";

const MOST_ENTRIES = 200;

/** What a preview shows: results of tools and settings say little. */
const SHOWN: ReadonlySet<Tone> = new Set<Tone>(["user", "assistant", "command", "summary", "damaged"]);

/** Returns the last messages of the branch on which a session stands, the latest at the end. */
export function previewOf(path: string): PreviewLine[] {
  const session = SessionView.at(path);
  const lines: PreviewLine[] = [];
  session.readEntries(session.pathTo(session.leaf, MOST_ENTRIES), (_, entry) => {
    const line = previewLine(entry);
    if (line !== undefined) lines.push(line);
  });
  return lines;
}

function previewLine(entry: AnySessionEntry | undefined): PreviewLine | undefined {
  const { tone, word } = kindOf(entry);
  const { text } = excerptOf(entry);
  return SHOWN.has(tone) && text !== "" ? { word, text } : undefined;
}
