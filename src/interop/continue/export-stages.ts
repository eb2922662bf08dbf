import { RESET_TYPE } from "../../core/context/select-entries.ts";
import type { CompactionEntry, SessionEntry } from "../../core/format/entry.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import { readSteps } from "../convert/session/session-steps.ts";
import { toIsoTime } from "../import/source-text.ts";
import type { WriteTarget } from "./session-writer.ts";

/** A message to export, and the entry that contains it. */
export interface ExportedMessage {
  readonly message: AgentMessage;
  readonly entry: SessionEntry;
}

/**
 * The model's context up to the next compaction or the leaf. Instructions are excluded, because programs have their own.
 */
export interface ExportStage {
  readonly sources: readonly ExportedMessage[];
  /** Compaction at the start of the stage. Its summary is the first message. */
  readonly compaction: CompactionEntry | undefined;
  /** Number of messages that the compaction left at the start of the stage: its summary and the messages that it kept. */
  readonly keptCount: number;
}

/**
 * Returns the stages of an export, in order. For a whole path, there is one stage for each compaction, and one for the messages
 * before the first compaction. Otherwise, the only stage is the model's context at the leaf.
 *
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 * @remarks Cost: O(path) for each stage.
 */
export function listStages(
  session: ReadonlySessionManager,
  { leafId, compacted }: Pick<WriteTarget, "leafId" | "compacted">,
): ExportStage[] {
  const branch = session.getBranch(leafId);
  const start = branch.findLastIndex(({ type }: { type: string }) => type === RESET_TYPE) + 1;
  const ends = branch.flatMap((entry, i) => {
    const before = branch[i - 1];
    return compacted === "whole" && i > start && entry.type === "compaction" && before ? [before.id] : [];
  });
  return [...ends, leafId].map((end) => readStage(session, end));
}

function readStage(session: ReadonlySessionManager, leafId: string): ExportStage {
  const path = session.getBranch(leafId).map(({ id }) => id);
  const sources = readSteps(session, leafId).flatMap(({ sourceEntry: entry, messages }) =>
    messages.flatMap((message) => (message.role === "system" ? [] : { message, entry })),
  );
  const compaction = sources.find(({ message }) => message.role === "compactionSummary")?.entry;
  if (compaction?.type !== "compaction") return { sources, compaction: undefined, keptCount: 0 };
  const end = path.indexOf(compaction.id);
  const after = sources.findIndex(({ entry }) => path.indexOf(entry.id) > end);
  return { sources, compaction, keptCount: after === -1 ? sources.length : after };
}

/**
 * Returns the time of a message in ISO 8601 format. If neither the message nor its entry has a time, returns the time of the
 * export.
 */
export function getMessageTime(source: ExportedMessage | undefined, now: number): string {
  const { timestamp } = source?.message ?? {};
  const saidMs = typeof timestamp === "number" && timestamp > 0 ? timestamp : source?.entry.timestamp;
  return toIsoTime(saidMs) ?? new Date(now).toISOString();
}
