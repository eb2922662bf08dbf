import { SessionError } from "../../core/format/errors.ts";
import type { SessionManager } from "../manager/session-manager.ts";

/** The state of a session when a long operation began. */
export interface BranchSnapshot {
  readonly session: SessionManager;
  readonly leafId: string | null;
  readonly compactionId: string | undefined;
}

/** Records the state of a session. */
export function takeSnapshot(session: SessionManager): BranchSnapshot {
  return { session, leafId: session.getLeafId(), compactionId: latestCompactionId(session) };
}

/** Refuses to write what was prepared for a branch that was left since. Entries appended to it do not matter. */
export function assertNotLeft(snapshot: BranchSnapshot, current: SessionManager): void {
  assertSameSession(snapshot, current);
  if (isOnBranch(current, snapshot.leafId)) return;
  throw stale("The branch was left meanwhile", snapshot, current);
}

/** Refuses to continue for a session that was left since. */
export function assertSameSession(snapshot: BranchSnapshot, current: SessionManager): void {
  if (snapshot.session !== current) throw stale("The session was left meanwhile", snapshot, current);
}

/** Refuses to write a compaction of a branch that was compacted since. */
export function assertNotCompacted(snapshot: BranchSnapshot): void {
  if (latestCompactionId(snapshot.session) === snapshot.compactionId) return;
  throw stale("The branch was compacted meanwhile", snapshot, snapshot.session);
}

/** Returns the first entry appended to a branch since; null if there is none. */
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
    { details: { expectedLeafId: leafId, leafId: current.getLeafId() } },
  );
}
