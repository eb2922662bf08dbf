import { callUnless, isSessionError, SessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { LogLine } from "../../session/log/session-log.ts";
import type { SessionBackend } from "../contract/session-backend.ts";
import { type RemoteLines, readAllLines, type WholeSession } from "./remote-lines.ts";

/** Creates a job that informs `work` whether an earlier attempt may have succeeded even though its response was lost. */
export function makeRepeatable(work: (isRepeated: boolean) => Promise<void>): () => Promise<void> {
  let isRepeated = false;
  return async () => {
    try {
      await work(isRepeated);
    } catch (error) {
      if (!isSessionError(error)) isRepeated = true;
      throw error;
    }
  };
}

/**
 * Returns whether a stored session was created from this header and entries with these ids.
 *
 * Other processes may have changed entries since then, but never headers or ids.
 */
export async function isSameSession(
  backend: SessionBackend,
  header: SessionHeader,
  ids: readonly string[],
): Promise<boolean> {
  const { known } = await readAllLines(backend, header.id);
  const { tree, header: there } = known.index;
  if (there === undefined || encodeRecord({ ...there }) !== encodeRecord({ ...header })) return false;
  return ids.every((id) => tree.find(id) !== NONE);
}

/**
 * Returns the sent lines that no other process has changed since then, because sending redacted lines again must not
 * restore them.
 *
 * @param known - Known state of the session at the time the lines were sent.
 * @remarks Cost: one call, and O(bytes of the session) if anything was changed.
 */
export async function findUnchangedLines(
  backend: SessionBackend,
  id: string,
  lines: readonly LogLine[],
  known: { readonly seq: number; readonly revision: number },
): Promise<readonly LogLine[]> {
  const revision = await readRevision(backend, id, known.seq);
  if (revision === undefined || revision === known.revision) return lines;
  const stored = await readAllLines(backend, id);
  const { tree } = stored.known.index;
  const texts = new Set(stored.lines.map(({ text }) => text));
  return lines.filter(({ head, text }) => texts.has(text) || !hasEntry(tree, head));
}

/**
 * Reads the revision of a session; undefined if it no longer exists. In this case, sending the lines again reports the
 * reason.
 */
async function readRevision(backend: SessionBackend, id: string, seq: number): Promise<number | undefined> {
  return (await callUnless("SESSION_NOT_FOUND", () => backend.read(id, seq, 1)))?.revision;
}

/** Returns whether a tree contains this entry, with any content, and not a different entry with the same id. */
function hasEntry(tree: EntryTree, { id, type, parentId, timestampMs }: EntryHead): boolean {
  const ordinal = tree.find(id);
  if (ordinal === NONE) return false;
  const there = tree.headAt(ordinal);
  return there.type === type && there.parentId === parentId && there.timestampMs === timestampMs;
}

/** Limits on a batch that is appended again: number of lines, and number of characters unless the batch has a single line. */
const MAX_LINES = 500;
const MAX_CHARACTERS = 1024 * 1024;

/** Upper limit of a gap. Small enough that positions remain safe integers even after half a billion appends to one session. */
const MAX_GAP = 2 ** 24;

/** Returns a random number of positions to skip before appended lines; see `AppendCondition`. */
export function drawGap(): number {
  return Math.floor(Math.random() * MAX_GAP);
}

/**
 * Returns the entries that this process has read but the backend has lost, in order, except entries that are waiting to
 * be stored.
 */
export function findLostLines(
  known: RemoteLines,
  stored: WholeSession,
  waiting: ReadonlySet<string>,
): LogLine[] {
  const there = stored.known.index.tree;
  const { tree, spans } = known.index;
  const lost = [...spans.inFileOrder(tree.ordinals())].filter((ordinal) => {
    const head = tree.headAt(ordinal);
    return !waiting.has(head.id) && !hasEntry(there, head);
  });
  const lines: LogLine[] = [];
  known.readLines(lost, (ordinal, bytes) => {
    lines.push({ head: tree.headAt(ordinal), text: decodeText(bytes) });
  });
  return lines;
}

/** Splits lines into batches, each to be appended in one call. */
export function* splitBatches(lines: readonly LogLine[]): Generator<LogLine[], void> {
  let [batch, characters]: [LogLine[], number] = [[], 0];
  for (const line of lines) {
    const isFull = batch.length === MAX_LINES || characters + line.text.length > MAX_CHARACTERS;
    if (batch.length > 0 && isFull) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(line);
    characters += line.text.length;
  }
  if (batch.length > 0) yield batch;
}

/** Creates the error for lost entries that must not be appended again. */
export function notRestored(id: string, count: number): SessionError {
  const message = `${count} stored entries of session ${id} were lost. The session was changed or deleted in the meantime, so they are not appended again. This process still has them: copy what you need (getEntries), then open the session again.`;
  return new SessionError("WRITES_LOST", message, { details: { id, lostEntries: count } });
}
