import type { CompactionPreparation } from "../compaction/plan.ts";
import type { CompactionResult } from "../compaction/summarize.ts";
import type { Usage } from "../schema/content.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry } from "../schema/entry.ts";

/** A session is ready to be used. */
export interface SessionStartEvent {
  readonly reason: "startup" | "reload" | "new" | "resume" | "fork";
  /** File of the session that was left for this one. */
  readonly previousSessionFile?: string;
}

/** Another session is about to replace this one. */
export interface SessionBeforeSwitchEvent {
  readonly reason: "new" | "resume";
  /** The file that is to be opened. */
  readonly targetSessionFile?: string;
}

/** A part of this session is about to be copied into a new session. */
export interface SessionBeforeForkEvent {
  readonly entryId: string;
  /** Whether the fork ends before the entry or with it. */
  readonly position: "before" | "at";
}

/** Why a compaction runs: the user, the size of the context, or a provider that rejected a request as too long. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** The history is about to be summarised. Exactly one of `session_compact` and `session_compact_failed` follows. */
export interface SessionBeforeCompactEvent {
  readonly preparation: CompactionPreparation;
  /** The active branch, root first. */
  readonly branchEntries: readonly SessionEntry[];
  readonly customInstructions?: string;
  readonly reason: CompactionReason;
  /** Whether the rejected request is sent again afterwards. */
  readonly willRetry: boolean;
  /** Aborted when the compaction is cancelled. */
  readonly signal: AbortSignal;
}

/** A compaction was appended. */
export interface SessionCompactEvent {
  readonly compactionEntry: CompactionEntry;
  /** Whether a handler made the summary. */
  readonly fromExtension: boolean;
  readonly reason: CompactionReason;
  readonly willRetry: boolean;
}

/** A compaction failed or was cancelled; nothing was written. */
export interface SessionCompactFailedEvent {
  readonly reason: CompactionReason;
  /** What went wrong; absent if it was cancelled. */
  readonly errorMessage?: string;
  /** Whether it was cancelled rather than failed. */
  readonly aborted: boolean;
  readonly willRetry: boolean;
  readonly fromExtension: boolean;
}

/** A planned navigation. */
export interface TreePreparation {
  readonly targetId: string;
  readonly oldLeafId: string | null;
  /** The deepest entry that both paths have. */
  readonly commonAncestorId: string | null;
  /** The entries that the navigation leaves, oldest first. */
  readonly entriesToSummarize: readonly SessionEntry[];
  readonly userWantsSummary: boolean;
  readonly customInstructions?: string;
  readonly replaceInstructions?: boolean;
  readonly label?: string;
}

/** The leaf is about to move. */
export interface SessionBeforeTreeEvent {
  readonly preparation: TreePreparation;
  /** Aborted when the navigation is cancelled. */
  readonly signal: AbortSignal;
}

/** The leaf was moved. */
export interface SessionTreeEvent {
  readonly newLeafId: string | null;
  /** The leaf that was left. */
  readonly oldLeafId: string | null;
  readonly summaryEntry?: BranchSummaryEntry;
  /** Whether a handler made the summary; absent if there is none. */
  readonly fromExtension?: boolean;
}

/** The session's name has changed. */
export interface SessionInfoChangedEvent {
  /** Undefined if it was cleared. */
  readonly name: string | undefined;
}

/** The session is about to be left: the time to stop whatever writes to it. */
export interface SessionShutdownEvent {
  readonly reason: "quit" | "reload" | "new" | "resume" | "fork";
  /** File of the session that replaces it. */
  readonly targetSessionFile?: string;
}

/** A handler's answer to a command that it can stop. */
export interface CancelResult {
  cancel?: boolean | undefined;
}

/** A compaction made by a handler; `null` for the first kept entry keeps nothing. */
export type ExtensionCompaction = Omit<CompactionResult, "firstKeptEntryId"> & {
  firstKeptEntryId: string | null;
};

/** A handler's answer before a compaction. */
export interface BeforeCompactResult extends CancelResult {
  /** Appended as it is, without a model. */
  compaction?: ExtensionCompaction | undefined;
}

/** A branch summary made by a handler. */
export interface ExtensionBranchSummary {
  summary: string;
  details?: unknown;
  usage?: Usage | undefined;
}

/** A handler's answer before a navigation. */
export interface BeforeTreeResult extends CancelResult {
  /** Appended as it is, without a model, if the user wants a summary. */
  summary?: ExtensionBranchSummary | undefined;
  /** Overrides the caller's value. */
  customInstructions?: string | undefined;
  replaceInstructions?: boolean | undefined;
  label?: string | undefined;
}

/** The events of a controller, by name. */
export interface SessionHookEvents {
  session_start: SessionStartEvent;
  session_before_switch: SessionBeforeSwitchEvent;
  session_before_fork: SessionBeforeForkEvent;
  session_before_compact: SessionBeforeCompactEvent;
  session_compact: SessionCompactEvent;
  session_compact_failed: SessionCompactFailedEvent;
  session_before_tree: SessionBeforeTreeEvent;
  session_tree: SessionTreeEvent;
  session_info_changed: SessionInfoChangedEvent;
  session_shutdown: SessionShutdownEvent;
}

/** The answers of handlers, by name; other events take none. */
export interface SessionHookResults {
  session_before_switch: CancelResult;
  session_before_fork: CancelResult;
  session_before_compact: BeforeCompactResult;
  session_before_tree: BeforeTreeResult;
}

/** Name of a session hook. */
export type SessionHookName = keyof SessionHookEvents;

/** The answer of handlers of one hook. */
export type SessionHookResult<Name extends SessionHookName> = Name extends keyof SessionHookResults
  ? SessionHookResults[Name]
  : undefined;

/** An answer, or none. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers that end without a return are no less handlers
type Answer<Name extends SessionHookName> = SessionHookResult<Name> | undefined | void;

/** Handles one kind of hook event, synchronously or not. */
export type SessionHookHandler<Name extends SessionHookName> = (
  event: SessionHookEvents[Name],
) => Answer<Name> | Promise<Answer<Name>>;
