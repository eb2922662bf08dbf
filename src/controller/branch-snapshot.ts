import type { SessionManager } from "../manager/session-manager.ts";
import { SessionError } from "../schema/errors.ts";

/** Where a session stood when something that takes time began. */
export interface BranchSnapshot {
  readonly session: SessionManager;
  readonly leafId: string | null;
  /** The latest compaction of the branch. */
  readonly compactionId: string | undefined;
}

/** Notes where a session stands. */
export function takeSnapshot(session: SessionManager): BranchSnapshot {
  return { session, leafId: session.getLeafId(), compactionId: latestCompactionId(session) };
}

/**
 * Refuses to write what was prepared for a branch that has been left since. Entries that were appended to it do no harm.
 *
 * @param current - The session that is worked on now.
 * @throws {SessionError} `STALE_LEAF`
 */
export function assertNotLeft(snapshot: BranchSnapshot, current: SessionManager): void {
  assertSameSession(snapshot, current);
  if (isOnBranch(current, snapshot.leafId)) return;
  throw stale("The branch was left meanwhile", snapshot, current);
}

/**
 * Refuses to go on for a session that has been left since.
 *
 * @throws {SessionError} `STALE_LEAF`
 */
export function assertSameSession(snapshot: BranchSnapshot, current: SessionManager): void {
  if (snapshot.session !== current) throw stale("The session was left meanwhile", snapshot, current);
}

/**
 * Refuses to write a compaction of a branch that has been compacted since.
 *
 * @throws {SessionError} `STALE_LEAF`
 */
export function assertNotCompacted(snapshot: BranchSnapshot): void {
  if (latestCompactionId(snapshot.session) === snapshot.compactionId) return;
  throw stale("The branch was compacted meanwhile", snapshot, snapshot.session);
}

/** Returns the first entry that was appended to a branch since; null if none was. */
export function firstAppendedSince({ session, leafId }: BranchSnapshot): string | null {
  const path = session.getPathIds();
  return path[leafId === null ? 0 : path.indexOf(leafId) + 1] ?? null;
}

function isOnBranch(session: SessionManager, id: string | null): boolean {
  const leafId = session.getLeafId();
  if (id === null || leafId === null) return id === leafId;
  return session.commonAncestor(id, leafId) === id;
}

function latestCompactionId(session: SessionManager): string | undefined {
  for (const { id } of session.walkUp({ type: "compaction" })) return id;
  return undefined;
}

function stale(what: string, { leafId }: BranchSnapshot, current: SessionManager): SessionError {
  return new SessionError(
    "STALE_LEAF",
    `${what}; nothing was written. Look at the session and decide anew.`,
    {
      details: { expectedLeafId: leafId, leafId: current.getLeafId() },
    },
  );
}
