import { readHeaderSettings } from "../../core/context/path-settings.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { createEntryId } from "../../core/format/ids.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { realFileSystem, removeQuietly } from "../fs/file-system.ts";
import { type CopyPlan, copyLines, planWholeCopy } from "../log/canonical-copy.ts";
import { FileLog } from "../log/file-log.ts";
import type { FileLogOptions } from "../log/file-log-options.ts";
import { MemoryLog } from "../log/memory-log.ts";
import { writeNewFile } from "../log/new-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
import { isConversation } from "./entry-maker.ts";
import type { SessionState } from "./session-state.ts";

/** Copies the settings of a session's header, so that both sessions have the same context. Skips version 1, as pi does. */
function copySettings(header: SessionHeader, index: SessionIndex): SessionHeader {
  if (index.version < 2) return header;
  const { thinkingLevel, model } = readHeaderSettings(index.header);
  return { ...header, ...model, ...(thinkingLevel !== undefined && { thinkingLevel }) };
}

/** Plans a copy of all entries. */
export function planWholeFork(log: SessionLog, header: SessionHeader): CopyPlan {
  return { ...planWholeCopy(log.index), header: copySettings(header, log.index) };
}

/** Branch that becomes a session. */
export interface BranchPlan extends CopyPlan {
  /** Current labels of the branch's entries, to append after the branch. */
  readonly labels: readonly LabelToKeep[];
  /** Id of the last copied entry; null if there is none. */
  readonly lastId: string | null;
}

interface LabelToKeep {
  readonly targetId: string;
  readonly label: string;
  readonly timestamp: string;
}

/** Plans a copy of the path root → `leaf` without label entries. Children of a label entry are attached to the label's parent. */
export function planBranch(state: SessionState, leaf: number, header: SessionHeader): BranchPlan {
  const { tree } = state;
  const path = withoutLeafRecords(tree.path(leaf), tree);
  const isLabel = (ordinal: number) => tree.typeAt(ordinal) === "label";
  const ordinals = path.filter((ordinal) => !isLabel(ordinal));
  const place = new Map(Array.from(ordinals, (ordinal, i) => [ordinal, i]));
  const getHead = (ordinal: number): EntryHead => {
    const parent = ordinals[(place.get(ordinal) ?? 0) - 1];
    return { ...tree.headAt(ordinal), parentId: parent === undefined ? null : tree.idAt(parent) };
  };
  const last = ordinals.at(-1);
  return {
    header: copySettings(header, state.log.index),
    ordinals,
    getHead,
    change: (entry) => withKeptEntry(entry, tree, path),
    labels: listLabels(state, ordinals),
    lastId: last === undefined ? null : tree.idAt(last),
  };
}

/** Returns whether a conversation has begun on a path. */
export function hasConversation({ cache, tree }: SessionState, ordinals: Iterable<number>): boolean {
  for (const ordinal of ordinals) {
    if (tree.typeAt(ordinal) === "message" && isConversation(cache.entryAt(ordinal))) return true;
  }
  return false;
}

/** Omits leaf records written by other programs at the end of a path, because they would move the leaf of the copy. */
function withoutLeafRecords(path: Int32Array, tree: EntryTree): Int32Array {
  return path.subarray(0, path.findLastIndex((ordinal) => tree.typeAt(ordinal) !== "leaf") + 1);
}

/** If a compaction's first kept entry is a label, which the copy omits, replaces it with the next entry. */
function withKeptEntry(entry: AnySessionEntry, tree: EntryTree, path: Int32Array): AnySessionEntry {
  const keptId = "firstKeptEntryId" in entry ? entry.firstKeptEntryId : undefined;
  if (entry.type !== "compaction" || typeof keptId !== "string") return entry;
  const kept = tree.find(keptId);
  if (kept === NONE || tree.typeAt(kept) !== "label") return entry;
  const from = path.indexOf(kept);
  const next = from === -1 ? undefined : path.slice(from).find((ordinal) => tree.typeAt(ordinal) !== "label");
  return next === undefined ? entry : { ...entry, firstKeptEntryId: tree.idAt(next) };
}

function listLabels(state: SessionState, ordinals: Int32Array): LabelToKeep[] {
  const labels = state.labelsAndName.labels();
  const kept: LabelToKeep[] = [];
  for (const ordinal of ordinals) {
    const targetId = state.tree.idAt(ordinal);
    const mark = labels.get(targetId);
    if (mark !== undefined) kept.push({ targetId, label: mark.label, timestamp: mark.timestamp });
  }
  return kept;
}

/** Yields the lines of a branch, then its labels. */
export function* writeBranchLines(
  state: SessionState,
  plan: BranchPlan,
): Generator<string | Uint8Array, void> {
  yield* copyLines(state.log, plan);
  const taken = new Set<string>();
  let parentId = plan.lastId;
  for (const { targetId, label, timestamp } of plan.labels) {
    const id = createEntryId((candidate) => taken.has(candidate) || state.tree.find(candidate) !== NONE);
    taken.add(id);
    yield `${encodeRecord({ type: "label", id, parentId, timestamp, targetId, label })}\n`;
    parentId = id;
  }
}

/** Writes the lines of a copy to a new session file, and opens it. */
export function writeCopy(
  path: string,
  lines: Iterable<string | Uint8Array>,
  options: FileLogOptions,
): FileLog {
  writeNewFile({ fs: options.fs, path, pieces: lines });
  try {
    const log = FileLog.open(path, options);
    if (log === undefined) throw new TypeError(`the copy at ${path} is empty`);
    return checkOrder(path, log);
  } catch (error) {
    // No other process can be using a copy that cannot be opened.
    removeQuietly(options.fs ?? realFileSystem, path);
    throw error;
  }
}

/** Creates a session from the lines of a copy. Its file is created when the conversation begins. */
export function beginCopy(
  path: string,
  lines: Iterable<string | Uint8Array>,
  options: FileLogOptions,
): FileLog {
  return checkOrder(path, FileLog.create(path, lines, options));
}

/** Throws unless each line of a copy is an entry and parents precede their children. */
function checkOrder(path: string, log: FileLog): FileLog {
  const [issue] = log.index.issues;
  if (issue === undefined) return log;
  log.release();
  throw new SessionError(
    "WRITE_FAILED",
    `The copy at ${path} was removed because it is damaged: ${issue.message} Run "sessiontree verify" on the original, or check the session's issues.`,
    { details: { path, issue } },
  );
}

/** Writes the path root → leaf to a new file, and creates its folder; returns the absolute path. */
export function exportCopy(
  state: SessionState,
  path: string,
  header: SessionHeader,
  options: FileLogOptions,
): string {
  const absolute = toAbsolutePath(path);
  const pieces = writeBranchLines(state, planBranch(state, state.leaf, header));
  writeNewFile({ fs: options.fs, path: absolute, pieces });
  return absolute;
}

/** Creates a session in memory from the lines of a copy. */
export function copyToMemory(lines: Iterable<string | Uint8Array>): MemoryLog {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return new MemoryLog(
    Array.from(lines, (line) => (typeof line === "string" ? line : decoder.decode(line))).join(""),
  );
}
