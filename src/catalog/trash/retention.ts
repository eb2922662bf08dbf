import { assertArgument, OBJECTS } from "../../core/format/arguments.ts";
import { assertKnownOptions, FLAG, makeNumberRule, type OptionRules } from "../../core/format/options.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { Descent, type SessionLineage } from "../list/lineage.ts";

/** Policy that selects the sessions to keep. */
export interface RetentionPolicy {
  /** Milliseconds without a user or assistant message after which a session may be deleted. */
  readonly olderThanMs: number;
  /** Whether to keep sessions with a name. Default false. */
  readonly keepNamed?: boolean;
  /** Whether to keep sessions that have labels, or whose labels are unknown. Default false. */
  readonly keepLabeled?: boolean;
  /** Whether to delete sessions even if kept sessions were forked from them. Default false. */
  readonly includeParents?: boolean;
}

const RETENTION_RULES: OptionRules<RetentionPolicy> = {
  olderThanMs: makeNumberRule(0, "milliseconds"),
  keepNamed: FLAG,
  keepLabeled: FLAG,
  includeParents: FLAG,
};

/** Session fields used by the plan. */
export interface RetentionCandidate
  extends Pick<FileRow, "path" | "id" | "name" | "parentSession" | "modified"> {
  /** Whether any entry of the session has a label; absent if unknown. */
  readonly isLabeled?: boolean;
}

/** Lists of the sessions to delete and to keep. */
export interface RetentionPlan<S> {
  /** Sessions to delete, in the given order. */
  readonly toDelete: readonly S[];
  /**
   * Sessions to keep, in the order of the input, each with a reason: `parent` means that a kept session was forked from
   * it.
   */
  readonly kept: readonly {
    readonly session: S;
    readonly reason: "recent" | "named" | "labeled" | "parent";
  }[];
}

/** Reason for keeping a session. */
export type KeepReason = RetentionPlan<unknown>["kept"][number]["reason"];

/**
 * Selects the sessions that are old enough to delete. Deletes nothing.
 *
 * A session's age is measured from its latest user or assistant message. A session is recent if this time is unknown or in
 * the future.
 *
 * @param sessions - Sessions that the policy applies to.
 * @param nowMs - Unix milliseconds.
 * @param others - Sessions that are kept regardless of the policy. Their parents are also kept.
 * @throws {TypeError} If a time is not a number.
 * @remarks Cost: O(sessions + others).
 */
export function planRetention<S extends RetentionCandidate>(
  sessions: readonly S[],
  policy: RetentionPolicy,
  nowMs: number,
  others: readonly SessionLineage[] = [],
): RetentionPlan<S> {
  assertArgument("sessions", sessions, OBJECTS);
  assertArgument("others", others, OBJECTS);
  assertKnownOptions(policy, RETENTION_RULES);
  if (policy.olderThanMs === undefined) throw new TypeError("A policy requires olderThanMs.");
  if (Number.isNaN(nowMs)) throw new TypeError("nowMs must be a number.");
  const reasons = new Map<SessionLineage, KeepReason>();
  for (const session of sessions) {
    const reason = findReasonToKeep(session, policy, nowMs);
    if (reason !== undefined) reasons.set(session, reason);
  }
  if (policy.includeParents !== true) keepParents(sessions, others, reasons);
  return {
    toDelete: sessions.filter((session) => !reasons.has(session)),
    kept: sessions.flatMap((session) => {
      const reason = reasons.get(session);
      return reason === undefined ? [] : [{ session, reason }];
    }),
  };
}

function findReasonToKeep(
  { name, modified, isLabeled = true }: RetentionCandidate,
  { olderThanMs, keepNamed = false, keepLabeled = false }: RetentionPolicy,
  nowMs: number,
): KeepReason | undefined {
  // A NaN age is not greater than any number, so the session is considered recent.
  if (!(nowMs - modified.getTime() > olderThanMs)) return "recent";
  if (keepNamed && name !== undefined) return "named";
  return keepLabeled && isLabeled ? "labeled" : undefined;
}

function keepParents(
  sessions: readonly SessionLineage[],
  others: readonly SessionLineage[],
  reasons: Map<SessionLineage, KeepReason>,
): void {
  const descent = new Descent<SessionLineage>([...sessions, ...others]);
  const staying = new Set<SessionLineage>([...reasons.keys(), ...others]);
  // The loop also visits elements added along the way.
  for (const session of staying) {
    for (const parent of descent.findParents(session)) {
      if (staying.has(parent)) continue;
      staying.add(parent);
      reasons.set(parent, "parent");
    }
  }
}
