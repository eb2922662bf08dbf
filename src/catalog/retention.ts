import { assertOptions, FLAG, numberFrom, type OptionRules } from "../schema/options.ts";
import { Descent, type SessionLineage } from "./descent.ts";
import type { FileRow } from "./session-row.ts";

/** Which sessions are kept. */
export interface RetentionPolicy {
  /** Milliseconds without a user or assistant message after which a session may go. */
  readonly olderThanMs: number;
  /** Whether sessions with a name stay. Default false. */
  readonly keepNamed?: boolean;
  /** Whether sessions with labels stay; one of which nobody knows counts as labelled. Default false. */
  readonly keepLabelled?: boolean;
  /** Whether a session may go from which one descends that stays. Default false. */
  readonly includeParents?: boolean;
}

const RETENTION_RULES: OptionRules<RetentionPolicy> = {
  olderThanMs: numberFrom(0, "milliseconds"),
  keepNamed: FLAG,
  keepLabelled: FLAG,
  includeParents: FLAG,
};

/** What the plan needs to know of a session. */
export interface RetentionCandidate
  extends Pick<FileRow, "path" | "id" | "name" | "parentSession" | "modified"> {
  /** Whether any of its entries has a label; absent if nobody has looked. */
  readonly isLabelled?: boolean;
}

/** Why a session stays: `parent` means that one descends from it which stays. */
export type KeepReason = "recent" | "named" | "labelled" | "parent";

/** What becomes of sessions. */
export interface RetentionPlan<S> {
  /** Those that go, in the order in which they were given. */
  readonly toDelete: readonly S[];
  /** Those that stay, and why, in the order in which they were given. */
  readonly kept: readonly { readonly session: S; readonly reason: KeepReason }[];
}

/**
 * Decides which sessions are old enough to go. Deletes nothing.
 *
 * A session's age counts from its latest user or assistant message; one whose time is unknown or in the future is recent.
 *
 * @param sessions - Those that the policy is about.
 * @param nowMs - Unix milliseconds.
 * @param others - Sessions that stay whatever the policy says; what they descend from counts as a parent.
 * @throws {TypeError} If a time is no number.
 * @remarks Cost: O(sessions + others).
 */
export function planRetention<S extends RetentionCandidate>(
  sessions: readonly S[],
  policy: RetentionPolicy,
  nowMs: number,
  others: readonly SessionLineage[] = [],
): RetentionPlan<S> {
  assertOptions(policy, RETENTION_RULES);
  if (policy.olderThanMs === undefined) throw new TypeError("A policy needs olderThanMs.");
  if (Number.isNaN(nowMs)) throw new TypeError("nowMs must be a number.");
  const reasons = new Map<SessionLineage, KeepReason>();
  for (const session of sessions) {
    const reason = reasonToKeep(session, policy, nowMs);
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

function reasonToKeep(
  { name, modified, isLabelled = true }: RetentionCandidate,
  { olderThanMs, keepNamed = false, keepLabelled = false }: RetentionPolicy,
  nowMs: number,
): KeepReason | undefined {
  // An age that is not a number is not greater than any.
  if (!(nowMs - modified.getTime() > olderThanMs)) return "recent";
  if (keepNamed && name !== undefined) return "named";
  return keepLabelled && isLabelled ? "labelled" : undefined;
}

/** Keeps the parents of all that stays, and theirs. */
function keepParents(
  sessions: readonly SessionLineage[],
  others: readonly SessionLineage[],
  reasons: Map<SessionLineage, KeepReason>,
): void {
  const descent = new Descent<SessionLineage>([...sessions, ...others]);
  const staying = new Set<SessionLineage>([...reasons.keys(), ...others]);
  // What is added to a set while it is walked is walked, too.
  for (const session of staying) {
    for (const parent of descent.parentsOf(session)) {
      if (staying.has(parent)) continue;
      staying.add(parent);
      reasons.set(parent, "parent");
    }
  }
}
