import type { Summarize } from "../../core/compaction/request-summary.ts";
import type { CompactionSettings } from "../../core/compaction/settings.ts";
import type { TokenCounter } from "../../core/compaction/tokens.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { entryNotFound } from "../../core/format/errors.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { CurrentSession } from "./current-session.ts";
import type { SessionHooks } from "./hooks.ts";

/** Sizes that the prompt of a branch summary must fit, in tokens. */
export interface BranchSummaryLimits {
  /** Context window of the model that summarises. Default: 128,000. */
  readonly contextWindow?: number;
  /** The part of it reserved for the prompt and the reply. Default: 16,384. */
  readonly reserveTokens?: number;
}

/** What all commands of a controller use. */
export interface ControllerHost {
  readonly current: CurrentSession;
  readonly hooks: SessionHooks;
  /** Ids of the entries that a fork in memory began with, which no parent's file can tell. */
  readonly copied: WeakMap<SessionManager, ReadonlySet<string>>;
  readonly summarize: Summarize | undefined;
  /** Undefined: the defaults, as they fit the context window. */
  readonly settings: CompactionSettings | undefined;
  readonly branchSummary: BranchSummaryLimits;
  readonly counter: TokenCounter | undefined;
}

/** Joins the signal of the session that may be left with the caller's, if there is one. */
export function joinSignals(leaving: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? leaving : AbortSignal.any([signal, leaving]);
}

/**
 * Returns an entry that must exist.
 *
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 */
export function requireEntry(session: SessionManager, id: string): SessionEntry {
  const entry = session.getEntry(id);
  if (entry === undefined) throw entryNotFound(id);
  return entry;
}
