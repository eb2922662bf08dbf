import { findNewestTips, sortParentsFirst } from "../../../core/facts/ancestry.ts";
import { findOpening, getSessionTitle } from "../../../core/facts/session-title.ts";
import type { ViewSource } from "../../../core/facts/tool-calls.ts";
import { findImportOrigin } from "../../../core/format/import-origin.ts";
import type { LineSpans } from "../../../core/jsonl/line-spans.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { LabelsAndName } from "../../../core/tree/labels-and-name.ts";
import type { SessionHeader, SessionIssue } from "../../../core.ts";
import { type EntryKind, getEntryKind, getTypeKind, isConversation } from "../../text/entry-kind.ts";
import { type EntryFacts, type LinkedSession, mapLinkedSessions } from "./entry-facts.ts";
import type { LineBlocks, SessionEntries } from "./session-entries.ts";

/** A session as the page looks at it: entries by ordinal (their index in the file) and how they hang together. */
export interface SessionModel extends ViewSource {
  readonly bytes: LineBlocks;
  readonly fileName: string;
  readonly header: SessionHeader | undefined;
  /** Whether what is shown is not as it stands in the file: entries of an old version are migrated. */
  readonly isMigrated: boolean;
  /** The display name; undefined if it has none. */
  readonly name: string | undefined;
  /** What people call it, as lists do. */
  readonly title: string;
  /** How many entries there are. */
  readonly size: number;
  /** What is known of each entry, by ordinal; of a large session at first only of some, with holes between them. */
  readonly facts: readonly EntryFacts[];
  /** Estimated tokens of what each entry contributes to a context, by ordinal; of a large session at first of none. */
  readonly tokens: readonly number[];
  /** Whether that is known of every entry, so that it can be counted, filtered and drawn as a tree. */
  readonly isWhole: boolean;
  /** Where the lines of the entries stand. */
  readonly lines: LineSpans;
  /** What each entry is, by ordinal, where the facts are known. */
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
 * Makes the model of a session as it is by now.
 *
 * @remarks Cost: O(entries).
 */
export function makeSessionModel(entries: SessionEntries, fileName: string): SessionModel {
  const { tree, bytes, issues, index } = entries;
  const { header, needsUpgrade: isMigrated, storedLeaf: leaf } = index;
  const { facts, tokens, isWhole } = entries;
  const entryAt = (ordinal: number) => entries.entryAt(ordinal);
  const marks = new LabelsAndName({ tree }, entryAt, undefined, header?.title);
  const labels = Array.from(marks.labels(), ([id, { label }]) => [tree.find(id), label] as const);
  const kinds = facts.map(({ kind }) => kind);
  const opening = findOpening(entries);
  const createdMs = Date.parse(header?.timestamp ?? "");
  return {
    bytes,
    fileName,
    header,
    isMigrated,
    name: marks.name(),
    title: getSessionTitle({ name: marks.name(), opening, fileName, createdMs }),
    size: tree.size,
    facts,
    tokens,
    isWhole,
    lines: index.spans,
    tree,
    entryAt,
    readEntries: (ordinals, take) => entries.readEntries(ordinals, take),
    kinds,
    newestTip: findNewestTips(tree, sortParentsFirst(tree)),
    leaf,
    labels: new Map(labels.filter(([ordinal]) => ordinal !== NONE)),
    failures: facts.flatMap(({ outcome }, ordinal) => (outcome === "failed" ? ordinal : [])),
    linked: mapLinkedSessions(facts),
    issues,
  };
}

/** Returns what an entry is. */
export function getKindAt(
  { kinds, entryAt }: Pick<SessionModel, "kinds" | "entryAt">,
  ordinal: number,
): EntryKind {
  return kinds[ordinal] ?? getEntryKind(entryAt(ordinal));
}

/** Tells whether an entry says that a tool, a command or a model failed. */
export function hasFailedAt({ facts }: Pick<SessionModel, "facts">, ordinal: number): boolean {
  return facts[ordinal]?.outcome === "failed";
}

/** Returns the program that a session was imported from; undefined if it was not, or is a fork of one that was. */
export function findSource({ entryAt, header }: SessionModel): string | undefined {
  const first = entryAt(0);
  // A fork begins later than the entries that it has copied.
  return first?.timestamp === header?.timestamp ? findImportOrigin(first)?.source : undefined;
}

/** Returns the kind of an entry as far as it is known without its body: of a message only with its facts. */
export function findKnownKind(
  { kinds, tree }: Pick<SessionModel, "kinds" | "tree">,
  ordinal: number,
): EntryKind | undefined {
  const type = tree.typeAt(ordinal);
  return kinds[ordinal] ?? (type === "message" ? undefined : getTypeKind(type));
}

/** Paths that were asked for last, by their ends: a key asks for the same one several times. */
const paths = new WeakMap<object, Map<number, readonly number[]>>();

const MAX_PATHS = 4;

/** Returns the ordinals root → entry; empty for NONE. */
export function getPathTo(session: Pick<SessionModel, "tree">, ordinal: number): readonly number[] {
  const known = paths.get(session) ?? new Map<number, readonly number[]>();
  paths.set(session, known);
  const path = known.get(ordinal) ?? Array.from(session.tree.path(ordinal));
  known.delete(ordinal);
  known.set(ordinal, path);
  const [oldest = ordinal] = known.keys();
  if (known.size > MAX_PATHS) known.delete(oldest);
  return path;
}

/**
 * Tells whether an entry is a record that views hide unless the reader asks for records: of state, usage, or an import, with
 * neither label, links nor branches beside it.
 */
export function isHiddenRecord(session: SessionModel, ordinal: number): boolean {
  const { labels, linked } = session;
  const kind = findKnownKind(session, ordinal);
  return (
    kind !== undefined &&
    !isConversation(kind) &&
    !labels.has(ordinal) &&
    !linked.has(ordinal) &&
    getSiblings(session, ordinal).length < 2
  );
}

/** Returns the entries that begin where an entry does, itself among them, in the order of the file. */
export function getSiblings({ tree }: Pick<SessionModel, "tree">, ordinal: number): number[] {
  return [...tree.children(tree.parentAt(ordinal))];
}

/** Names the branch that ends at an entry: the current one, on which the session continues, or one by its last entry. */
export function formatBranchName({ tree, leaf }: Pick<SessionModel, "tree" | "leaf">, end: number): string {
  if (end === leaf) return "current branch";
  return end === NONE ? "start of the session" : `branch to entry ${tree.idAt(end)}`;
}

/** Returns where something is, if it is on a branch: `on the current branch`, `on the branch to entry 4f338a15`. */
export function formatPlace(session: Pick<SessionModel, "tree" | "leaf">, end: number): string {
  return end === NONE && end !== session.leaf
    ? "before the first entry"
    : `on the ${formatBranchName(session, end)}`;
}

/** Bytes of a damaged line that are shown. */
const MAX_BYTES = 600;

/** Returns the beginning of the bytes that an issue is about, as text; what is no UTF-8 becomes U+FFFD. */
export function decodeRawText(bytes: LineBlocks, { offset, length }: SessionIssue): string {
  const text = new TextDecoder().decode(bytes.read(offset, Math.min(length, MAX_BYTES)));
  return length > MAX_BYTES ? `${text}…` : text;
}
