import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import { getEntryKind } from "../../text/entry-kind.ts";
import { type Candidate, shortenToDescription } from "./candidates.ts";

/** Maximum number of entries; more would not be useful. */
const MAX_ENTRIES = 200;

/**
 * Returns the labels and entry ids of a session that begin with the typed text, latest first.
 *
 * @param isDescribed - Whether a shell displays descriptions; bodies are read only in that case.
 */
export function listEntryCandidates(path: string, typed: string, isDescribed: boolean): Candidate[] {
  const session = SessionView.at(path);
  const { tree, labels } = session;
  const found: Candidate[] = [];
  for (const [id, { label }] of labels) {
    if (label.startsWith(typed)) found.push({ value: label, description: `the label of ${id}` });
  }
  const ordinals = [...tree.ordinals()].filter((ordinal) => tree.idAt(ordinal).startsWith(typed));
  const latest = ordinals.slice(-MAX_ENTRIES);
  const entries: Candidate[] = [];
  const add = (ordinal: number, description = "") => entries.push({ value: tree.idAt(ordinal), description });
  if (isDescribed) {
    session.readEntries(latest, (ordinal, entry) =>
      add(ordinal, shortenToDescription(`${getEntryKind(entry).word} ${getExcerpt(entry).text}`)),
    );
  } else for (const ordinal of latest) add(ordinal);
  return [...found, ...entries.reverse()];
}
