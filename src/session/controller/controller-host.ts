import type { Summarize } from "../../core/compaction/request-summary.ts";
import type { CompactionSettings } from "../../core/compaction/settings.ts";
import type { TokenCounter } from "../../core/compaction/tokens.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { makeEntryNotFoundError, SessionError } from "../../core/format/errors.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { CurrentSession } from "./current-session.ts";
import type { SessionHooks } from "./hooks.ts";

/** Limits for the prompt of a branch summary, in tokens. */
export interface BranchSummaryLimits {
  /** Context window of the summarizing model. Default: 128,000. */
  readonly contextWindow?: number;
  /** Part of the window to reserve for the prompt and the reply. Default: 16,384. */
  readonly reserveTokens?: number;
}

/** Dependencies of a controller's commands. */
export interface ControllerHost {
  readonly current: CurrentSession;
  readonly hooks: SessionHooks;
  /** Ids of the initial entries of in-memory forks, which cannot be determined from a parent's file. */
  readonly copied: WeakMap<SessionManager, ReadonlySet<string>>;
  readonly summarize: Summarize | undefined;
  /** Compaction settings. If undefined, the defaults are used, fitted to the context window. */
  readonly settings: CompactionSettings | undefined;
  readonly branchSummary: BranchSummaryLimits;
  readonly counter: TokenCounter;
}

/** Combines the signal for leaving the session with the caller's signal, if any. */
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
  if (entry === undefined) throw makeEntryNotFoundError(id);
  return entry;
}

/** State of a session at the beginning of a long operation. */
export interface BranchSnapshot {
  readonly session: SessionManager;
  readonly leafId: string | null;
  readonly compactionId: string | undefined;
}

/** Records the state of a session. */
export function takeSnapshot(session: SessionManager): BranchSnapshot {
  return { session, leafId: session.getLeafId(), compactionId: findLatestCompactionId(session) };
}

/** Throws if the user has left the branch since the snapshot. Entries appended to the branch are ignored. */
export function assertNotLeft(snapshot: BranchSnapshot, current: SessionManager): void {
  assertSameSession(snapshot, current);
  if (isOnBranch(current, snapshot.leafId)) return;
  throw makeStaleError("The branch was left in the meantime", snapshot, current);
}

/** Throws if the session was replaced since the snapshot. */
export function assertSameSession(snapshot: BranchSnapshot, current: SessionManager): void {
  if (snapshot.session !== current)
    throw makeStaleError("The session was left in the meantime", snapshot, current);
}

/** Throws if the branch was compacted since the snapshot. */
export function assertNotCompacted(snapshot: BranchSnapshot): void {
  if (findLatestCompactionId(snapshot.session) === snapshot.compactionId) return;
  throw makeStaleError("The branch was compacted in the meantime", snapshot, snapshot.session);
}

/** Returns the id of the first entry appended to a branch since the snapshot; null if there is none. */
export function findFirstAppended({ session, leafId }: BranchSnapshot): string | null {
  const path = session.getPathIds();
  return path[leafId === null ? 0 : path.indexOf(leafId) + 1] ?? null;
}

function isOnBranch(session: SessionManager, id: string | null): boolean {
  const leafId = session.getLeafId();
  if (id === null || leafId === null) return id === leafId;
  return session.getCommonAncestorId(id, leafId) === id;
}

function findLatestCompactionId(session: SessionManager): string | undefined {
  for (const { id } of session.walkUp({ type: "compaction" })) return id;
  return undefined;
}

function makeStaleError(what: string, { leafId }: BranchSnapshot, current: SessionManager): SessionError {
  return new SessionError("STALE_LEAF", `${what}; nothing was written. Read the session again, and retry.`, {
    details: { expectedLeafId: leafId, leafId: current.getLeafId() },
  });
}
