import { SessionError } from "../../core/format/errors.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import type { LogLine } from "../../session/log/session-log.ts";
import type { StoredLine } from "../contract/session-backend.ts";
import { hasEntry } from "./idempotent-retry.ts";
import { sessionIn } from "./read-lines.ts";
import type { RemoteLines } from "./remote-lines.ts";

/** The most lines, and the most characters of more than one line, that are appended again together. */
const MAX_LINES = 500;
const MAX_CHARACTERS = 1024 * 1024;

/** Returns the entries that a process knows and a backend has lost, in order, without those that wait to be stored. */
export function lostLines(
  known: RemoteLines,
  stored: readonly StoredLine[],
  waiting: ReadonlySet<string>,
): LogLine[] {
  const there = sessionIn(stored).index.tree;
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

/** Splits lines into batches that are appended together. */
export function* batchesOf(lines: readonly LogLine[]): Generator<LogLine[], void> {
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

/** The error for lost entries that may not be appended again. */
export function notRestored(id: string, count: number): SessionError {
  return new SessionError(
    "WRITES_LOST",
    `${count} stored entries of session ${id} are gone, and its lines were changed or it was deleted since, so they are not appended again. This process still holds them: copy what you need (getEntries), and open the session again.`,
    { details: { id, lostEntries: count } },
  );
}
