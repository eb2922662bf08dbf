import type { AnySessionEntry } from "../format/entry.ts";
import { toRecord } from "./entry-fields.ts";
import type { EntryPath } from "./entry-path.ts";

/** Type of the entry that oh-my-pi appends to clear the context. */
export const RESET_TYPE = "reset_boundary";

/** Issue with a compaction whose first kept entry does not precede it on the path. */
export interface SelectionIssue {
  readonly code: "KEPT_ENTRY_MISSING";
  /** Index of the compaction on the path. */
  readonly index: number;
  /** Id of the compaction. */
  readonly entryId: string;
  /** Human-readable description of the issue. */
  readonly message: string;
}

/** Entries of a path that make up a context. */
export interface SelectedEntries {
  /** Indices on the path, in context order: the compaction, the entries that it keeps, and the entries after it. */
  readonly indices: readonly number[];
  /** Index of the compaction at the start of the context; -1 if there is none. */
  readonly compactionIndex: number;
  /** Whether the compaction's `retainedTail` replaces entries before it. */
  readonly keepsTail: boolean;
  /** Bodies parsed during selection, by index, to avoid reading them twice; undefined if damaged. */
  readonly parsed: ReadonlyMap<number, AnySessionEntry | undefined>;
  readonly issue: SelectionIssue | undefined;
}

/** Content that a compaction keeps: the entries `[from, compaction)` or the messages in its `retainedTail`. */
interface KeptPart {
  readonly from: number;
  readonly keepsTail: boolean;
  readonly issue: SelectionIssue | undefined;
}

/**
 * Selects the entries that make up a context.
 *
 * Without a compaction, selects all entries. Otherwise, selects the latest compaction with a readable body, the entries that it
 * keeps (except system messages, which it replays), and all entries after it. Omits oh-my-pi's `reset_boundary` and the entries
 * before it.
 *
 * @remarks Cost: O(path) head reads, plus the bodies of the compaction and of the messages that it keeps. Source:
 *   docs/format.md#context
 */
export function selectEntries(path: EntryPath): SelectedEntries {
  const parsed = new Map<number, AnySessionEntry | undefined>();
  const indices: number[] = [];
  const start = findLatestReset(path) + 1;
  const compactionIndex = findLatestCompaction(path, parsed, start);
  const compaction = parsed.get(compactionIndex);
  let kept: KeptPart = { from: 0, keepsTail: false, issue: undefined };
  if (compaction !== undefined) {
    kept = selectKeptPart(path, compaction, compactionIndex);
    indices.push(compactionIndex);
    const from = Math.max(kept.from, start);
    readMessages(path, from, compactionIndex, parsed);
    for (let index = from; index < compactionIndex; index++) {
      if (!isSystemMessage(parsed.get(index))) indices.push(index);
    }
  }
  for (let index = Math.max(compactionIndex + 1, start); index < path.length; index++) indices.push(index);
  return { indices, compactionIndex, keepsTail: kept.keepsTail, parsed, issue: kept.issue };
}

/** Returns the index of the latest `reset_boundary`; -1 if there is none. */
function findLatestReset(path: EntryPath): number {
  if (!path.mayHold(RESET_TYPE)) return -1;
  for (let index = path.length - 1; index >= 0; index--) {
    if (path.typeAt(index) === RESET_TYPE) return index;
  }
  return -1;
}

/** Returns the index of the latest compaction. Skips damaged ones, because the entries that they keep are unknown. */
function findLatestCompaction(
  path: EntryPath,
  parsed: Map<number, AnySessionEntry | undefined>,
  start: number,
): number {
  if (!path.mayHold("compaction")) return -1;
  for (let index = path.length - 1; index >= start; index--) {
    if (path.typeAt(index) !== "compaction") continue;
    const entry = path.entryAt(index);
    parsed.set(index, entry);
    if (entry !== undefined) return index;
  }
  return -1;
}

function selectKeptPart(path: EntryPath, compaction: AnySessionEntry, compactionIndex: number): KeptPart {
  const { firstKeptEntryId: keptId, retainedTail } = toRecord(compaction);
  // oh-my-pi writes an empty id where other programs write the compaction's own id.
  if (keptId === compaction.id || keptId === "")
    return { from: compactionIndex, keepsTail: true, issue: undefined };
  const from = typeof keptId === "string" ? path.indexOf(keptId) : -1;
  if (from >= 0 && from < compactionIndex) return { from, keepsTail: false, issue: undefined };
  const isOtherForm = Array.isArray(retainedTail) && (keptId === undefined || keptId === null);
  const issue = isOtherForm ? undefined : makeMissingIssue(compaction.id, compactionIndex, keptId);
  return { from: compactionIndex, keepsTail: true, issue };
}

function makeMissingIssue(entryId: string, index: number, keptId: unknown): SelectionIssue {
  const named =
    typeof keptId === "string"
      ? `${JSON.stringify(keptId)}, which does not precede it on its branch`
      : "none";
  const message = `Compaction ${entryId} must name the first entry that it keeps, but names ${named}; it keeps nothing.`;
  return { code: "KEPT_ENTRY_MISSING", index, entryId, message };
}

/** Reads the message entries in `[from, to)` in one call. */
function readMessages(
  path: EntryPath,
  from: number,
  to: number,
  parsed: Map<number, AnySessionEntry | undefined>,
): void {
  const indices: number[] = [];
  for (let index = from; index < to; index++) if (path.typeAt(index) === "message") indices.push(index);
  path.entriesAt(indices).forEach((entry, i) => {
    const index = indices[i];
    if (index !== undefined) parsed.set(index, entry);
  });
}

function isSystemMessage(entry: AnySessionEntry | undefined): boolean {
  const { message } = toRecord(entry);
  return entry?.type === "message" && toRecord(message)["role"] === "system";
}
