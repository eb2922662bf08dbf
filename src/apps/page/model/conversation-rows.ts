import { type ContentPart, getEntryContent, getMessageContent } from "../../../core/facts/entry-content.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { AnySessionEntry, Message } from "../../../core.ts";
import { getEntryKind, getMessageKind } from "../../text/entry-kind.ts";
import { ByOrdinal } from "./by-ordinal.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { rememberLatest } from "./latest-results.ts";
import type { ModelItem, PathItem } from "./path-items.ts";

/** Conversation entry, as stored or as the model receives it. */
export type ConversationItem = PathItem | ModelItem;

/** An entry, and the results of its calls. */
export interface EntryRow {
  readonly kind: "entry";
  readonly ordinal: number;
  readonly item: ConversationItem;
  /** At most one for each call, in path order. */
  readonly results: readonly ConversationItem[];
}

/** Folded line that replaces the entries that a compaction omitted. */
export interface FoldedRow {
  readonly kind: "compacted";
  /** The first of these entries. */
  readonly ordinal: number;
  /** Number of entries that the model no longer sees. */
  readonly size: number;
  /** Number of these entries that failed. */
  readonly failed: number;
  readonly isOpen: boolean;
}

/** Row of the conversation. */
export type ConversationRow = EntryRow | FoldedRow;

/** Rows of a conversation, and the row of each entry, including entries that share a row. */
export interface ConversationRows<R extends ConversationRow = ConversationRow> {
  readonly rows: readonly R[];
  readonly rowByOrdinal: Pick<ByOrdinal, "get" | "has">;
}

/**
 * Lays out a conversation in rows: results share their calls' rows, and compacted entries are folded into one line until the
 * reader opens it.
 *
 * A result shares its call's row unless another model answer comes between them.
 *
 * @param isOpen - Returns whether a line of folded entries is open, by its kind and its first entry.
 * @returns The same rows for the same items with the same open lines, if they are among the latest.
 * @remarks Cost: O(items). Parses no body.
 */
export function makeConversationRows(
  items: readonly ConversationItem[],
  isOpen: (kind: FoldedRow["kind"], first: number) => boolean,
): ConversationRows {
  const groups = getGroups(items);
  const isShown = ({ isCompacted, first }: Group) => !isCompacted || isOpen("compacted", first);
  return layOutGroups(groups, groups.map((group) => (isShown(group) ? "s" : "h")).join(""));
}

/** Returns the groups of items; the same array for the same items. */
const getGroups = rememberLatest(splitGroups, 1);

/** Lays out groups in rows; `shown` has a letter for each group: `s` if its entries are shown, `h` if they are hidden. */
const layOutGroups = rememberLatest((groups: readonly Group[], shown: string): ConversationRows => {
  const rows: ConversationRow[] = [];
  const rowByOrdinal = new ByOrdinal(groups.reduce((size, { items }) => Math.max(size, findSize(items)), 0));
  const addAll = (some: readonly ConversationItem[]) => some.forEach(makeEntryAdder(rows, rowByOrdinal));
  for (const [index, { isCompacted, items: some }] of groups.entries()) {
    const isShown = shown[index] === "s";
    if (!isShown) for (const { ordinal } of some) rowByOrdinal.set(ordinal, rows.length);
    if (isCompacted) rows.push(makeFoldedRow(some, isShown));
    if (isShown) addAll(some);
  }
  return { rows, rowByOrdinal };
}, 2);

/** Lays out a conversation in rows without folding any entries. */
export function makeEntryRows(items: readonly ConversationItem[]): ConversationRows<EntryRow> {
  const rows: EntryRow[] = [];
  const rowByOrdinal = new ByOrdinal(findSize(items));
  items.forEach(makeEntryAdder(rows, rowByOrdinal));
  return { rows, rowByOrdinal };
}

/** Returns the number of entries up to the last of some items in the file. */
function findSize(items: readonly ConversationItem[]): number {
  let size = 0;
  for (const { ordinal } of items) size = Math.max(size, ordinal + 1);
  return size;
}

function makeFoldedRow(items: readonly ConversationItem[], isOpen: boolean): FoldedRow {
  const compacted = items.filter(({ state }) => state === "compacted");
  const failed = compacted.filter(({ hasFailed }) => hasFailed).length;
  return { kind: "compacted", ordinal: items[0]?.ordinal ?? NONE, size: compacted.length, failed, isOpen };
}

interface Group {
  readonly isCompacted: boolean;
  /** Its first entry. */
  readonly first: number;
  readonly items: ConversationItem[];
}

/** Separates compacted entries from the rest; entries that the model never sees do not split a group of compacted ones. */
function splitGroups(items: readonly ConversationItem[]): Group[] {
  const groups: Group[] = [];
  let end = 0;
  while (end < items.length) {
    const start = end;
    const isCompacted = items[start]?.state === "compacted";
    while (end < items.length && (items[end]?.state === "compacted") === isCompacted) end++;
    if (isCompacted) end = findAfterLastCompacted(items, end);
    groups.push({ isCompacted, first: items[start]?.ordinal ?? NONE, items: items.slice(start, end) });
  }
  return groups;
}

function findAfterLastCompacted(items: readonly ConversationItem[], from: number): number {
  let end = from;
  for (let at = from; at < items.length; at++) {
    const state = items[at]?.state;
    if (state === "compacted") end = at + 1;
    else if (state !== "aside") break;
  }
  return end;
}

const NO_RESULTS: readonly ConversationItem[] = [];

/** Creates the function that adds an entry: to the row of its call if that call still needs a result, otherwise as a new row. */
function makeEntryAdder(
  rows: { readonly length: number; push(row: EntryRow): unknown },
  rowByOrdinal: ByOrdinal,
) {
  let takeAwaited: TakeAwaited = () => false;
  let results: ConversationItem[] = [];
  let callingRow = NONE;
  return (item: ConversationItem): void => {
    const { ordinal, facts } = item;
    if (facts !== undefined && facts.callId !== "" && takeAwaited(facts.callId)) {
      results.push(item);
      rowByOrdinal.set(ordinal, callingRow);
      return;
    }
    const isCalling = facts !== undefined && facts.calls.length > 0;
    if (isCalling) {
      takeAwaited = awaitResults(facts.calls);
      results = [];
      callingRow = rows.length;
    }
    rowByOrdinal.set(ordinal, rows.length);
    rows.push({ kind: "entry", ordinal, item, results: isCalling ? results : NO_RESULTS });
  };
}

/** Returns whether a call has the given ID and no result yet. From then on, it has one. */
type TakeAwaited = (callId: string) => boolean;

/** Creates the function that finds the calls of an answer. Most answers have a single call, which does not need a set. */
function awaitResults(calls: EntryFacts["calls"]): TakeAwaited {
  const [first] = calls;
  if (calls.length > 1) {
    const awaited = new Set(calls.map(({ id }) => id));
    return (callId) => awaited.delete(callId);
  }
  let isAwaited = true;
  return (callId) => {
    const isFound = isAwaited && callId === first?.id;
    if (isFound) isAwaited = false;
    return isFound;
  };
}

/** Returns the result of a call in a row; undefined if it has none. */
export function findResult({ results }: EntryRow, callId: string): ConversationItem | undefined {
  return getResultsByCall(results).get(callId);
}

const getResultsByCall = rememberLatest(
  (results: readonly ConversationItem[]) => new Map(results.map((item) => [item.facts?.callId, item])),
  1,
);

const made = new WeakMap<object, readonly ContentPart[]>();

/**
 * Returns the content of a conversation entry, as stored or as the model receives it; returns the same array as long as the entry
 * stays parsed.
 */
export function getItemParts(item: ConversationItem): readonly ContentPart[] {
  const source = "messages" in item ? item.messages : item.entry;
  const known = made.get(source);
  if (known !== undefined) return known;
  const parts =
    "messages" in item
      ? item.messages.flatMap((message) => getSentParts(item.entry, message))
      : getEntryContent(item.entry).parts;
  made.set(source, parts);
  return parts;
}

/** Returns the content that the model receives from an entry, with a note on how it is sent if that is not obvious. */
function getSentParts(entry: AnySessionEntry, message: Message): ContentPart[] {
  const isPlain = getEntryKind(entry) === getMessageKind(message);
  const note: ContentPart = { kind: "note", text: `sent as a ${message.role} message:` };
  return isPlain ? getMessageContent(message) : [note, ...getMessageContent(message)];
}
