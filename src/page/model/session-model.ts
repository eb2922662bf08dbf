import { type AnySessionEntry, readSession, type SessionHeader, type SessionIssue } from "../../core.ts";
import { idKeyOf } from "../../schema/id-key.ts";
import { importOriginIn } from "../../schema/import-origin.ts";
import { EntryTree, NONE } from "../../tree/entry-tree.ts";
import { LabelsAndName } from "../../tree/labels-and-name.ts";
import { newestTips, parentsFirst } from "../../view/ancestry.ts";
import { type EntryKind, KINDS, readKinds } from "../../view/entry-kind.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { beginningOf } from "../../view/plain.ts";
import { folderName } from "../../view/session-title.ts";
import type { ViewSource } from "../../view/view-source.ts";
import type { EmbeddedSession } from "./embedded-session.ts";
import { type LinkedSession, linkedSessions } from "./linked-sessions.ts";

/** Characters of a title that is made of a prompt. */
const LONGEST_TITLE = 90;

/** A session as the page looks at it: entries by ordinal (their index in the file) and how they hang together. */
export interface SessionModel extends ViewSource {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly header: SessionHeader | undefined;
  readonly version: number;
  /** The display name; undefined if it has none. */
  readonly name: string | undefined;
  /** What a person calls it: the name, else its first prompt, else its folder or file. */
  readonly title: string;
  readonly entries: readonly AnySessionEntry[];
  readonly byId: ReadonlyMap<string, AnySessionEntry>;
  /** What each entry is, by ordinal. */
  readonly kinds: readonly EntryKind[];
  /** The entry that came last into the file of those at and below each entry that have no child. */
  readonly newestTip: Int32Array;
  /** Where the next entry would hang; NONE in an empty session. */
  readonly leaf: number;
  /** Labels in force, by ordinal. */
  readonly labels: ReadonlyMap<number, string>;
  /** Entries that say that a tool, a command or a model failed, in the order of the file. */
  readonly failures: readonly number[];
  /** Other sessions that entries name, by ordinal. */
  readonly linked: ReadonlyMap<number, readonly LinkedSession[]>;
  readonly issues: readonly SessionIssue[];
}

/**
 * Reads an embedded session.
 *
 * @remarks Cost: O(bytes).
 */
export function makeSessionModel({
  bytes,
  fileName,
  known,
}: Pick<EmbeddedSession, "bytes" | "fileName" | "known">): SessionModel {
  const { header, version, entries, leafId, issues } = readSession(bytes);
  const tree = treeOf(entries);
  const entryAt = (ordinal: number) => entries[ordinal];
  const marks = new LabelsAndName(tree, entryAt, undefined, header?.title);
  const labels = Array.from(marks.labels(), ([id, { label }]) => [tree.find(id), label] as const);
  const readEntries: ViewSource["readEntries"] = (some, take) => {
    for (const ordinal of some) take(ordinal, entries[ordinal]);
  };
  const { kinds, failures } = readKinds({ tree, entryAt, readEntries });
  return {
    bytes,
    fileName,
    header,
    version,
    name: marks.name(),
    title:
      marks.name() ?? (firstPrompt(entries, kinds) || folderName(header?.cwd ?? "") || fileName || "Session"),
    entries,
    byId: new Map(entries.map((entry) => [entry.id, entry])),
    tree,
    entryAt,
    readEntries,
    kinds,
    newestTip: newestTips(tree, parentsFirst(tree)),
    leaf: tree.find(leafId ?? ""),
    labels: new Map(labels.filter(([ordinal]) => ordinal !== NONE)),
    failures: [...failures],
    linked: linkedSessions(entries, known),
    issues,
  };
}

/** Makes the tree of entries that reading has hung up already. */
function treeOf(entries: readonly AnySessionEntry[]): EntryTree {
  const tree = new EntryTree();
  for (const { type, id, parentId, timestamp } of entries)
    tree.add(type, idKeyOf(id), parentId === null ? null : idKeyOf(parentId), Date.parse(timestamp));
  tree.resolveParents();
  return tree;
}

function firstPrompt(entries: readonly AnySessionEntry[], kinds: readonly EntryKind[]): string {
  for (const [ordinal, entry] of entries.entries()) {
    const prompt = kinds[ordinal]?.tone === "user" ? excerptOf(entry).text : "";
    if (prompt !== "") return beginningOf(prompt, LONGEST_TITLE);
  }
  return "";
}

/** Returns what an entry is. */
export function kindAt({ kinds }: Pick<SessionModel, "kinds">, ordinal: number): EntryKind {
  return kinds[ordinal] ?? KINDS.damaged;
}

/** Returns the program that a session was imported from; undefined if it was not, or is a fork of one that was. */
export function sourceOf({ entries, header }: SessionModel): string | undefined {
  const [first] = entries;
  // A fork begins later than the entries that it has copied.
  return first?.timestamp === header?.timestamp ? importOriginIn(first)?.source : undefined;
}

/** Returns the ordinals root → entry; empty for NONE. */
export function pathTo({ tree }: Pick<SessionModel, "tree">, ordinal: number): number[] {
  return [...tree.path(ordinal)];
}

/** Tells whether an entry is one that only its program reads: with neither label, links nor branches beside it. */
export function isStateEntry(session: SessionModel, ordinal: number): boolean {
  const { labels, linked } = session;
  return (
    kindAt(session, ordinal) === KINDS.state &&
    !labels.has(ordinal) &&
    !linked.has(ordinal) &&
    siblingsOf(session, ordinal).length < 2
  );
}

/** Returns the entries that begin where an entry does, itself among them, in the order of the file. */
export function siblingsOf({ tree }: Pick<SessionModel, "tree">, ordinal: number): number[] {
  return [...tree.children(tree.parentAt(ordinal))];
}

/** Names the end of a path in words: `the leaf`, `entry 4f338a15`, or `the start` before the first entry. */
export function endName({ entries, leaf }: Pick<SessionModel, "entries" | "leaf">, end: number): string {
  if (end === leaf) return "the leaf";
  const entry = entries[end];
  return entry === undefined ? "the start" : `entry ${entry.id}`;
}

/** Bytes of a damaged line that are shown. */
const MOST_BYTES = 600;

/** Returns the beginning of the bytes that an issue is about, as text; what is no UTF-8 becomes U+FFFD. */
export function rawTextOf(bytes: Uint8Array, { offset, length }: SessionIssue): string {
  const shown = bytes.subarray(offset, offset + Math.min(length, MOST_BYTES));
  const text = new TextDecoder().decode(shown);
  return length > MOST_BYTES ? `${text}…` : text;
}
