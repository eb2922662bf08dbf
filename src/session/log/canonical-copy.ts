import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { splitRuns } from "../../core/jsonl/byte-runs.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { changeLine, encodeCurrentLine, type LineChange } from "../../core/jsonl/entry-body.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { makeTooNewError } from "./file-errors.ts";
import type { LogLine } from "./session-log.ts";

/** Content of a copy of a session. */
export interface CopyPlan {
  readonly header: SessionHeader;
  /** Ordinals of the entries. Parents precede children, unless the file itself has the reverse order. */
  readonly ordinals: Iterable<number>;
  /** Returns the head to give an entry in the copy. By default, entries keep their own heads. */
  readonly getHead?: (ordinal: number) => EntryHead;
  readonly change?: (entry: AnySessionEntry) => AnySessionEntry;
  /** Changes the lines of the header and of each entry. */
  readonly changeLine?: LineChange;
  /** Returns lines to append after all entries. Called after the entries have been copied. */
  readonly more?: () => readonly LogLine[];
}

/** Number of entries to decode at a time, so that a copy of any size requires little memory. */
const BATCH = 256;

/**
 * Yields the lines of a copy: the header, followed by each entry in the format of the current version.
 *
 * Shared by upgrade, fork, branch, and export. Unchanged lines are copied byte for byte.
 *
 * @throws {SessionError} `VERSION_TOO_NEW`, because entries of an unknown version cannot be stored under another version.
 */
export function* copyLines(log: LineSource, plan: CopyPlan): Generator<string | Uint8Array, void> {
  if (log.index.version > CURRENT_SESSION_VERSION) throw makeTooNewError(undefined, log.index.version);
  const header = encodeRecord(plan.header);
  yield `${plan.changeLine?.(header) ?? header}\n`;
  const { index } = log;
  const getHead = plan.getHead ?? ((ordinal: number) => index.tree.headAt(ordinal));
  for (const batch of splitRuns(plan.ordinals, BATCH)) {
    const lines: (string | Uint8Array)[] = [];
    log.readLines(batch, (ordinal, bytes) => {
      const head = getHead(ordinal);
      const line = changeLine(encodeCurrentLine(bytes, head, index, plan.change), head, plan.changeLine);
      lines.push(typeof line === "string" ? line : new Uint8Array(line), "\n");
    });
    yield* lines;
  }
  for (const { text } of plan.more?.() ?? []) yield `${text}\n`;
}

/** Plans a copy of the whole session with the same header. */
export function planWholeCopy({ header, tree, spans }: SessionIndex): CopyPlan {
  if (header === undefined) throw new TypeError("a session without a header cannot be copied");
  return { header, ordinals: spans.inFileOrder(tree.ordinals()) };
}
