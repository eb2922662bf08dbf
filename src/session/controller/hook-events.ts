import type { CompactionPreparation } from "../../core/compaction/plan.ts";
import type { CompactionResult } from "../../core/compaction/summarize.ts";
import type { Usage } from "../../core/format/content.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry } from "../../core/format/entry.ts";

/** Why a compaction runs: the user, the size of the context, or a provider that rejected a request as too long. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** The events of a controller, by name. */
export interface SessionHookEvents {
  /** A session is ready to be used. */
  session_start: {
    readonly reason: "startup" | "reload" | "new" | "resume" | "fork";
    /** File of the session that was left for this one. */
    readonly previousSessionFile?: string;
  };
  /** Another session is about to replace this one. */
  session_before_switch: {
    readonly reason: "new" | "resume";
    /** The file that is to be opened. */
    readonly targetSessionFile?: string;
  };
  /** A part of this session is about to be copied into a new session. */
  session_before_fork: {
    readonly entryId: string;
    /** Whether the fork ends before the entry or with it. */
    readonly position: "before" | "at";
  };
  /** The history is about to be summarized. Exactly one of `session_compact` and `session_compact_failed` follows. */
  session_before_compact: {
    readonly preparation: CompactionPreparation;
    /** The active branch, root first. */
    readonly branchEntries: readonly SessionEntry[];
    readonly customInstructions?: string;
    readonly reason: CompactionReason;
    /** Whether the rejected request is sent again afterwards. */
    readonly willRetry: boolean;
    /** Aborted when the compaction is cancelled. */
    readonly signal: AbortSignal;
  };
  /** A compaction was appended. */
  session_compact: {
    readonly compactionEntry: CompactionEntry;
    /** Whether a handler made the summary. */
    readonly fromExtension: boolean;
    readonly reason: CompactionReason;
    readonly willRetry: boolean;
  };
  /** A compaction failed or was cancelled; nothing was written. */
  session_compact_failed: {
    readonly reason: CompactionReason;
    /** What went wrong; absent if it was cancelled. */
    readonly errorMessage?: string;
    /** Whether it was cancelled rather than failed. */
    readonly aborted: boolean;
    readonly willRetry: boolean;
    readonly fromExtension: boolean;
  };
  /** The leaf is about to move. */
  session_before_tree: {
    /** A planned navigation. */
    readonly preparation: {
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
    };
    /** Aborted when the navigation is cancelled. */
    readonly signal: AbortSignal;
  };
  /** The leaf was moved. */
  session_tree: {
    readonly newLeafId: string | null;
    /** The leaf that was left. */
    readonly oldLeafId: string | null;
    readonly summaryEntry?: BranchSummaryEntry;
    /** Whether a handler made the summary; absent if there is none. */
    readonly fromExtension?: boolean;
  };
  /** The session's name has changed. */
  session_info_changed: {
    /** Undefined if it was cleared. */
    readonly name: string | undefined;
  };
  /** The session is about to be left: the time to stop whatever writes to it. */
  session_shutdown: {
    readonly reason: "quit" | "reload" | "new" | "resume" | "fork";
    /** File of the session that replaces it. */
    readonly targetSessionFile?: string;
  };
}

/** The answers of handlers, by name; other events take none. `cancel` stops the command. */
export interface SessionHookResults {
  session_before_switch: { cancel?: boolean | undefined };
  session_before_fork: { cancel?: boolean | undefined };
  session_before_compact: {
    cancel?: boolean | undefined;
    /** Appended as it is, without a model; `null` for the first kept entry keeps nothing. */
    compaction?:
      | (Omit<CompactionResult, "firstKeptEntryId"> & { firstKeptEntryId: string | null })
      | undefined;
  };
  session_before_tree: {
    cancel?: boolean | undefined;
    /** Appended as it is, without a model, if the user wants a summary. */
    summary?: { summary: string; details?: unknown; usage?: Usage | undefined } | undefined;
    /** Overrides the caller's value. */
    customInstructions?: string | undefined;
    replaceInstructions?: boolean | undefined;
    label?: string | undefined;
  };
}

/** A compaction made by a handler. */
export type ExtensionCompaction = NonNullable<SessionHookResults["session_before_compact"]["compaction"]>;

/** A branch summary made by a handler. */
export type ExtensionBranchSummary = NonNullable<SessionHookResults["session_before_tree"]["summary"]>;

/** The answer of handlers of one hook. */
export type SessionHookResult<Name extends keyof SessionHookEvents> = Name extends keyof SessionHookResults
  ? SessionHookResults[Name]
  : undefined;

/** An answer, or none. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers that end without a return are no less handlers
type Answer<Name extends keyof SessionHookEvents> = SessionHookResult<Name> | undefined | void;

/** Handles one kind of hook event, synchronously or not. */
export type SessionHookHandler<Name extends keyof SessionHookEvents> = (
  event: SessionHookEvents[Name],
) => Answer<Name> | Promise<Answer<Name>>;
