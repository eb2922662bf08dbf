import type { SessionFacts } from "../../core/facts/session-facts.ts";
import type { BackendListQuery, ListPosition } from "./session-backend.ts";

/** Compares sessions in list order: most recently modified first, then by id, ascending by code unit. */
export function compareSessions(a: ListPosition, b: ListPosition): number {
  return b.modifiedMs - a.modifiedMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Returns the position of a session in a list. */
export function getPosition({ id, lastMessageMs, createdMs }: SessionFacts): ListPosition {
  return { id, modifiedMs: lastMessageMs ?? createdMs ?? 0 };
}

/** Returns whether a string contains another string, ignoring case. */
export function hasText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/**
 * Evaluates a list query on the facts of all sessions, for backends that keep the facts in memory.
 *
 * @remarks Cost: O(n log n).
 */
export function selectSessions(all: Iterable<SessionFacts>, query: BackendListQuery): SessionFacts[] {
  const { cwd, name, idPrefix = "", limit, after } = query;
  return [...all]
    .filter((one) => cwd === undefined || one.cwd === cwd)
    .filter((one) => name === undefined || hasText(one.name ?? "", name))
    .filter((one) => one.id.startsWith(idPrefix))
    .filter((one) => after === undefined || compareSessions(getPosition(one), after) > 0)
    .sort((a, b) => compareSessions(getPosition(a), getPosition(b)))
    .slice(0, limit);
}
