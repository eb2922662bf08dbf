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
import { rememberLatest } from "./latest-results.ts";
import type { LineBlocks, SessionEntries } from "./session-entries.ts";

/** Session as the page uses it: entries by ordinal (their index in the file) and the tree that they form. */
export interface SessionModel extends ViewSource {
  readonly bytes: LineBlocks;
  readonly fileName: string;
  readonly header: SessionHeader | undefined;
  /** Whether the shown entries differ from the file because entries of an old version were migrated. */
  readonly isMigrated: boolean;
  /** The display name; undefined if the session has no name. */
  readonly name: string | undefined;
  /** Title, as in lists. */
  readonly title: string;
  /** Number of entries. */
  readonly size: number;
  /** Facts of each entry, by ordinal; for a large session, initially available for only some entries, with holes between them. */
  readonly facts: readonly EntryFacts[];
  /** Estimated tokens that each entry contributes to a context, by ordinal; for a large session, initially unavailable. */
  readonly tokens: readonly number[];
  /** Whether facts and tokens of every entry are known, so that entries can be counted, filtered, and drawn as a tree. */
  readonly isWhole: boolean;
  /** Positions of the entries' lines. */
  readonly lines: LineSpans;
  /** Kind of each entry, by ordinal, if its facts are known. */
  readonly kinds: readonly EntryKind[];
  /** For each entry, the last entry in the file that has no children, among the entry and its descendants. */
  readonly newestTip: Int32Array;
  /** The parent of the next entry; NONE in an empty session. */
  readonly leaf: number;
  /** Labels in force, by ordinal. */
  readonly labels: ReadonlyMap<number, string>;
  /** Entries that report the failure of a tool, a command, or a model, in file order. */
  readonly failures: readonly number[];
  /** Other sessions that entries refer to, by ordinal. */
  readonly linked: ReadonlyMap<number, readonly LinkedSession[]>;
  readonly issues: readonly SessionIssue[];
}

/**
 * Creates the model of the current state of a session.
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

/** Returns the kind of an entry. */
export function getKindAt(
  { kinds, entryAt }: Pick<SessionModel, "kinds" | "entryAt">,
  ordinal: number,
): EntryKind {
  return kinds[ordinal] ?? getEntryKind(entryAt(ordinal));
}

/** Returns whether an entry reports the failure of a tool, a command, or a model. */
export function hasFailedAt({ facts }: Pick<SessionModel, "facts">, ordinal: number): boolean {
  return facts[ordinal]?.outcome === "failed";
}

/** Returns the program that a session was imported from; undefined if it was not imported, or is a fork of an imported one. */
export function findSource({
  entryAt,
  header,
}: Pick<SessionModel, "entryAt" | "header">): string | undefined {
  const first = entryAt(0);
  // A fork starts later than the entries that it has copied.
  const isFork = Date.parse(header?.timestamp ?? "") > Date.parse(first?.timestamp ?? "");
  return isFork ? undefined : findImportOrigin(first)?.source;
}

/** Returns the kind of an entry if it is known without its body; the kind of a message is known only with its facts. */
export function findKnownKind(
  { kinds, tree }: Pick<SessionModel, "kinds" | "tree">,
  ordinal: number,
): EntryKind | undefined {
  const type = tree.typeAt(ordinal);
  return kinds[ordinal] ?? (type === "message" ? undefined : getTypeKind(type));
}

/** Number of remembered paths. */
const MAX_PATHS = 4;

/** Returns the ordinals from the root to an entry; empty for NONE. Remembers the latest paths. */
export const getPathTo = rememberLatest(
  ({ tree }: Pick<SessionModel, "tree">, ordinal: number): readonly number[] => [...tree.path(ordinal)],
  MAX_PATHS,
);

/**
 * Returns whether views hide an entry unless the reader requests records: the entry is a record of state, usage, or an import,
 * and has no label, links, or sibling branches.
 */
export function isHiddenRecord(session: SessionModel, ordinal: number): boolean {
  const { labels, linked } = session;
  const kind = findKnownKind(session, ordinal);
  return (
    kind !== undefined &&
    !isConversation(kind) &&
    !labels.has(ordinal) &&
    !linked.has(ordinal) &&
    !hasSiblings(session, ordinal)
  );
}

/** Returns whether another entry has the same parent. Reads at most two children, since a parent may have thousands. */
export function hasSiblings({ tree }: Pick<SessionModel, "tree">, ordinal: number): boolean {
  const [, second] = tree.children(tree.parentAt(ordinal));
  return second !== undefined;
}

/** Returns the entries with the same parent as an entry, including itself, in file order. */
export function getSiblings({ tree }: Pick<SessionModel, "tree">, ordinal: number): number[] {
  return [...tree.children(tree.parentAt(ordinal))];
}

/**
 * Formats the name of the branch that ends at an entry: the current branch, where the session continues, or a branch named after
 * its last entry.
 */
export function formatBranchName({ tree, leaf }: Pick<SessionModel, "tree" | "leaf">, end: number): string {
  if (end === leaf) return "current branch";
  return end === NONE ? "start of the session" : `branch to entry ${tree.idAt(end)}`;
}

/** Formats the location of an item by its branch: `on the current branch`, `on the branch to entry 4f338a15`. */
export function formatPlace(session: Pick<SessionModel, "tree" | "leaf">, end: number): string {
  return end === NONE && end !== session.leaf
    ? "before the first entry"
    : `on the ${formatBranchName(session, end)}`;
}

/** Maximum number of bytes shown of a damaged line. */
const MAX_BYTES = 600;

/** Returns the beginning of the bytes that an issue affects, as a string; invalid UTF-8 is replaced with U+FFFD. */
export function decodeRawText(bytes: LineBlocks, { offset, length }: SessionIssue): string {
  const text = new TextDecoder().decode(bytes.read(offset, Math.min(length, MAX_BYTES)));
  return length > MAX_BYTES ? `${text}…` : text;
}
