import type { CompactionPreparation } from "../../core/compaction/plan.ts";
import type { CompactionResult } from "../../core/compaction/summarize.ts";
import type { Usage } from "../../core/format/content.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry } from "../../core/format/entry.ts";

/** Reason for a compaction: the user, the size of the context, or a provider that rejected a request as too long. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** Events of a controller, by name. */
export interface SessionHookEvents {
  /** A session is ready to be used. */
  session_start: {
    readonly reason: "startup" | "reload" | "new" | "resume" | "fork";
    /** File of the session that this one replaced. */
    readonly previousSessionFile?: string;
  };
  /** Another session is about to replace this one. */
  session_before_switch: {
    readonly reason: "new" | "resume";
    /** File to be opened. */
    readonly targetSessionFile?: string;
  };
  /** A part of this session is about to be copied to a new session. */
  session_before_fork: {
    readonly entryId: string;
    /** Whether the fork ends before the entry (`before`) or with it (`at`). */
    readonly position: "before" | "at";
  };
  /** The history is about to be summarized. Exactly one of `session_compact` and `session_compact_failed` follows. */
  session_before_compact: {
    readonly preparation: CompactionPreparation;
    /** Active branch, root first. */
    readonly branchEntries: readonly SessionEntry[];
    readonly customInstructions?: string;
    readonly reason: CompactionReason;
    /** Whether the rejected request will be sent again after the compaction. */
    readonly willRetry: boolean;
    /** Signal that is aborted when the compaction is canceled. */
    readonly signal: AbortSignal;
  };
  /** A compaction was appended. */
  session_compact: {
    readonly compactionEntry: CompactionEntry;
    /** Whether a handler created the summary. */
    readonly fromExtension: boolean;
    readonly reason: CompactionReason;
    readonly willRetry: boolean;
  };
  /** A compaction failed or was canceled; nothing was written. */
  session_compact_failed: {
    readonly reason: CompactionReason;
    /** Error message; absent if the compaction was canceled. */
    readonly errorMessage?: string;
    /** Whether the compaction was canceled. If false, it failed. */
    readonly aborted: boolean;
    readonly willRetry: boolean;
    readonly fromExtension: boolean;
  };
  /** The leaf is about to move. */
  session_before_tree: {
    /** Planned navigation. */
    readonly preparation: {
      readonly targetId: string;
      readonly oldLeafId: string | null;
      /** Deepest common entry of both paths. */
      readonly commonAncestorId: string | null;
      /** Entries that the navigation abandons, oldest first. */
      readonly entriesToSummarize: readonly SessionEntry[];
      readonly userWantsSummary: boolean;
      readonly customInstructions?: string;
      readonly replaceInstructions?: boolean;
      readonly label?: string;
    };
    /** Signal that is aborted when the navigation is canceled. */
    readonly signal: AbortSignal;
  };
  /** The leaf was moved. */
  session_tree: {
    readonly newLeafId: string | null;
    /** Leaf before the navigation. */
    readonly oldLeafId: string | null;
    readonly summaryEntry?: BranchSummaryEntry;
    /** Whether a handler created the summary; absent if there is none. */
    readonly fromExtension?: boolean;
  };
  /** The session's name has changed. */
  session_info_changed: {
    /** New name; undefined if it was cleared. */
    readonly name: string | undefined;
  };
  /** The session is about to be left. Handlers must stop all code that writes to it. */
  session_shutdown: {
    readonly reason: "quit" | "reload" | "new" | "resume" | "fork";
    /** File of the session that replaces it. */
    readonly targetSessionFile?: string;
  };
}

/** Answers that handlers can return, by event name. Other events do not accept answers. `cancel` stops the command. */
export interface SessionHookResults {
  session_before_switch: { cancel?: boolean | undefined };
  session_before_fork: { cancel?: boolean | undefined };
  session_before_compact: {
    cancel?: boolean | undefined;
    /** Compaction to append unchanged, without calling a model. A `firstKeptEntryId` of `null` keeps no entries. */
    compaction?:
      | (Omit<CompactionResult, "firstKeptEntryId"> & { firstKeptEntryId: string | null })
      | undefined;
  };
  session_before_tree: {
    cancel?: boolean | undefined;
    /** Summary to append unchanged, without calling a model, if the user wants a summary. */
    summary?: { summary: string; details?: unknown; usage?: Usage | undefined } | undefined;
    /** Overrides the caller's value. */
    customInstructions?: string | undefined;
    replaceInstructions?: boolean | undefined;
    label?: string | undefined;
  };
}

/** Compaction created by a handler. */
export type ExtensionCompaction = NonNullable<SessionHookResults["session_before_compact"]["compaction"]>;

/** Branch summary created by a handler. */
export type ExtensionBranchSummary = NonNullable<SessionHookResults["session_before_tree"]["summary"]>;

/** Answer that handlers of a hook can return. */
export type SessionHookResult<Name extends keyof SessionHookEvents> = Name extends keyof SessionHookResults
  ? SessionHookResults[Name]
  : undefined;

/** An answer, or none. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers need not return a value
type Answer<Name extends keyof SessionHookEvents> = SessionHookResult<Name> | undefined | void;

/** Handles one kind of hook event. May be synchronous or asynchronous. */
export type SessionHookHandler<Name extends keyof SessionHookEvents> = (
  event: SessionHookEvents[Name],
) => Answer<Name> | Promise<Answer<Name>>;
