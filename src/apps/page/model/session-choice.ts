import { dollarsOf, nothingSpent, type Spent } from "../../../core/facts/spending.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { dayOf, type IndexUsage, type Period } from "./index-usage.ts";
import type { ListedSession } from "./session-list.ts";

/** By what sessions are ordered: the latest, the most expensive, the one with most tokens, messages or issues first. */
export const SORTS = ["latest", "cost", "tokens", "messages", "issues"] as const;
/** One of these orders. */
export type Sort = (typeof SORTS)[number];

/** Which sessions are shown, and in which order. */
export interface SessionChoice {
  /** Tells whether a session has what was looked for. */
  readonly isFound: (session: ListedSession) => boolean;
  /** Working directory; undefined for any. */
  readonly project?: string | undefined;
  /** The program that sessions were imported from, or empty for none; undefined for any. */
  readonly source?: string | undefined;
  readonly period: Period;
  /** What each session used in the period, by its address; undefined until that is known. */
  readonly spent: ReadonlyMap<string, Spent> | undefined;
  readonly sort: Sort;
  /** Addresses of sessions, the one that fits best first: how they are ordered if nothing else was chosen. */
  readonly ranked?: readonly string[] | undefined;
}

/** A session of the list with those of its subagents. */
export interface SessionNode {
  readonly session: ListedSession;
  /** What it used in the period, its subagents included; undefined until that is known. */
  readonly spent: Spent | undefined;
  readonly subagents: readonly SessionNode[];
  /** Whether it is only shown because of its subagents. */
  readonly isAround: boolean;
}

/**
 * Chooses the sessions that are shown, and hangs those of subagents below the ones that started them.
 *
 * A session whose subagent was found is shown with the subagents that were; of one that was found itself, all are.
 *
 * @param sessions - Latest first.
 * @param usage - Undefined until it is known; then it tells who started whom, also where the list could not.
 * @remarks Cost: O(sessions · log sessions).
 */
export function chooseSessions(
  sessions: readonly ListedSession[],
  usage: IndexUsage | undefined,
  choice: SessionChoice,
): SessionNode[] {
  const { project, source, period, spent, sort, ranked } = choice;
  const listed = new Set(sessions.map(({ href }) => href));
  const starterOf = ({ href, startedBy }: ListedSession) => {
    const starter = usage === undefined ? startedBy : usage.starters.get(href);
    return starter !== undefined && listed.has(starter) ? starter : undefined;
  };
  const byStarter = groupBy(sessions, starterOf);
  const isWanted = (session: ListedSession) =>
    choice.isFound(session) &&
    (project === undefined || session.cwd === project) &&
    (source === undefined || usage?.sources.get(session.href) === source) &&
    isUsedIn(session, period);
  const nodesOf = (some: readonly ListedSession[], isStarterWanted: boolean): SessionNode[] =>
    some.flatMap((session) => {
      const isChosen = isStarterWanted || isWanted(session);
      const subagents = nodesOf(byStarter.get(session.href) ?? [], isChosen);
      const isAround = !isChosen;
      if (isAround && subagents.length === 0) return [];
      return [{ session, spent: spent && (spent.get(session.href) ?? nothingSpent()), subagents, isAround }];
    });
  return sorted(nodesOf(byStarter.get(undefined) ?? [], false), sort, ranked);
}

/** A session is in a period if it was begun before its end, and had messages after its beginning. */
function isUsedIn({ created, modified }: ListedSession, { from, to }: Period): boolean {
  return (
    (from === undefined || dayOf(new Date(modified)) >= from) &&
    (to === undefined || dayOf(new Date(created)) <= to)
  );
}

function sorted(nodes: SessionNode[], sort: Sort, ranked: readonly string[] | undefined): SessionNode[] {
  if (sort === "latest") {
    const ranks = new Map(ranked?.map((href, rank) => [href, rank]));
    const rankOf = ({ session, subagents }: SessionNode): number =>
      Math.min(ranks.get(session.href) ?? ranks.size, ...subagents.map(rankOf));
    return nodes.sort((a, b) => rankOf(a) - rankOf(b));
  }
  const sizeOf = ({ session, spent = nothingSpent(), subagents }: SessionNode): number => {
    switch (sort) {
      case "messages":
        return session.messageCount;
      case "issues":
        return subagents.reduce((sum, node) => sum + sizeOf(node), session.issueCount);
      case "tokens":
        return spent.total;
      case "cost":
        return dollarsOf(spent);
    }
  };
  return nodes.sort((a, b) => sizeOf(b) - sizeOf(a));
}
