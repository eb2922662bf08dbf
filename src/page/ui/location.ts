import { NONE } from "../../tree/entry-tree.ts";
import type { Place, View } from "../model/navigation.ts";
import { pathTo, type SessionModel } from "../model/session-model.ts";

const VIEWS: readonly View[] = ["path", "model", "usage", "issues"];

/** Writes a place as the part of an address behind `#`. */
export function hashOf(session: SessionModel, { end, focus, view, asked }: Place): string {
  const { entries, leaf, newestTip } = session;
  const parts = new URLSearchParams();
  const [entry, last] = [entries[focus], entries[end]];
  if (entry !== undefined) parts.set("entry", entry.id);
  // Without it the link leads to the leaf's path if the entry is on it, else to the newest one through the entry.
  const usual = entry === undefined || pathTo(session, leaf).includes(focus) ? leaf : newestTip[focus];
  // An empty value is the place before the first entry.
  if (end !== usual) parts.set("end", last?.id ?? "");
  if (view !== "path") parts.set("view", view);
  const about = entries[asked];
  if (about !== undefined) parts.set("saw", about.id);
  const text = parts.toString();
  return text === "" ? "" : `#${text}`;
}

/** Writes the address of an entry, from `#` on; halves of surrogate pairs, which no address can hold, become U+FFFD. */
export function linkTo(id: string): string {
  return `#${new URLSearchParams({ entry: id })}`;
}

/**
 * Reads a place from the part of an address behind `#`.
 *
 * @param opening - Where the path ends if the address does not say.
 * @returns The place; what the address names and the session does not have counts as not named.
 */
export function placeOf(session: SessionModel, hash: string, opening: number): Place {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const { tree, newestTip } = session;
  const ordinalOf = (name: string) => tree.find(parts.get(name) ?? "");
  const [focus, named] = [ordinalOf("entry"), ordinalOf("end")];
  const isBeforeFirst = focus === NONE && named === NONE && parts.get("end") === "";
  const ends = [named, opening, newestTip[focus] ?? opening];
  const end = isBeforeFirst
    ? NONE
    : ends.find((one) => one !== NONE && (focus === NONE || pathTo(session, one).includes(focus)));
  const view = VIEWS.find((one) => one === parts.get("view")) ?? "path";
  const asked = view === "path" ? NONE : ordinalOf("saw");
  return { end: end ?? opening, focus, view, asked, reveal: revealOf(session, end ?? opening, focus) };
}

/** A path with a compaction opens at its end: what stands before is folded, and was long ago. */
function revealOf(session: SessionModel, end: number, focus: number): Place["reveal"] {
  if (focus !== NONE) return { align: "start" };
  const isCompacted = pathTo(session, end).some((ordinal) => session.entries[ordinal]?.type === "compaction");
  return isCompacted ? { align: "end" } : undefined;
}
