import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { getDollars, makeEmptySpent, type Spent } from "../../../core/facts/usage-tally.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { getMessageKind } from "../../text/entry-kind.ts";
import { formatDay, type IndexUsage, type Period } from "./index-usage.ts";
import { withQuery } from "./query-address.ts";
import { makeFinder } from "./search.ts";

/** Session of a list. */
export interface ListedSession {
  /** Address of its page. */
  readonly href: string;
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly created: string;
  readonly modified: string;
  readonly messageCount: number;
  readonly issueCount: number;
  /** Whether it started as a copy of another session. */
  readonly isFork: boolean;
  /** For a subagent's session, the address of the session that started it; undefined for other sessions. */
  readonly startedBy: string | undefined;
}

/** Content of a list of sessions. */
export interface SessionList {
  /** Name of the list: a folder, or all projects. */
  readonly name: string;
  /** Address for searching session contents, without the query. */
  readonly searchUrl: string;
  /** Address of the sessions' usage. */
  readonly usageUrl: string;
  /** Address of the sessions of other programs that can be imported; undefined for the list of a folder. */
  readonly importableUrl: string | undefined;
  /** Latest first. */
  readonly sessions: readonly ListedSession[];
}

/** Entry in which a text was found. */
export interface ListHit {
  /** Addresses of the entry on its session's page, and of that page. */
  readonly href: string;
  readonly session: string;
  /** Display name of the message's role. */
  readonly word: string;
  /** Whether it is on an abandoned branch. */
  readonly isLeft: boolean;
  /** The line around the best match: the text before it, the match, and the text after it. */
  readonly snippet: readonly [before: string, match: string, after: string];
}

/** Reads the list that a server embedded in the page. */
export function readSessionList(json: string): SessionList {
  const { name, searchUrl, usageUrl, importableUrl, sessions } = toRecord(JSON.parse(json));
  return {
    name: toText(name),
    searchUrl: toText(searchUrl),
    usageUrl: toText(usageUrl),
    importableUrl: toText(importableUrl) || undefined,
    sessions: toArray(sessions).map((one) => {
      const { href, path, id, cwd, title, created, modified, messageCount, issueCount, isFork, startedBy } =
        toRecord(one);
      return {
        href: toText(href),
        path: toText(path),
        id: toText(id),
        cwd: toText(cwd),
        title: toText(title),
        created: toText(created),
        modified: toText(modified),
        messageCount: toNumber(messageCount),
        issueCount: toNumber(issueCount),
        isFork: isFork === true,
        startedBy: toText(startedBy) || undefined,
      };
    }),
  };
}

/** Result of a content search. */
export interface FoundHits {
  /** The best hits first. */
  readonly hits: readonly ListHit[];
  /** Whether more entries match. */
  readonly hasMore: boolean;
}

/** Reads the result of a content search; the addresses of the hits carry the query to the pages of their sessions. */
export function readFoundHits(json: unknown, query: string): FoundHits {
  const { hits, hasMore } = toRecord(json);
  return { hits: readHits(hits, query), hasMore: hasMore === true };
}

function readHits(hits: unknown, query: string): ListHit[] {
  return toArray(hits).map((one) => {
    const { href, session, role, branch, snippet: line, match } = toRecord(one);
    const { start: from, length } = toRecord(match);
    const [snippet, start] = [toText(line), toNumber(from)];
    const end = start + toNumber(length);
    return {
      href: withQuery(toText(href), query),
      session: toText(session),
      word: getMessageKind({ role }).word,
      isLeft: branch === "left",
      snippet: [snippet.slice(0, start), snippet.slice(start, end), snippet.slice(end)],
    };
  });
}

/** Splits a line so that every other piece is a word in the query. */
export function cutAtWords(line: string, text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, length } of makeFinder(text).all(line)) {
    if (start < from) continue;
    pieces.push(line.slice(from, start), line.slice(start, start + length));
    from = start + length;
  }
  return [...pieces, line.slice(from)];
}

/** Keeps the sessions whose title, folder, path, or id contains each word in a string. */
export function filterSessions(sessions: readonly ListedSession[], text: string): readonly ListedSession[] {
  if (text.trim() === "") return sessions;
  const { best } = makeFinder(text);
  return sessions.filter(
    ({ title, cwd, path, id }) => best(`${title}\n${cwd}\n${path}\n${id}`) !== undefined,
  );
}

/** Sort orders for sessions: first the latest, the most expensive, or the sessions with the most tokens, messages, or issues. */
export const SORTS = ["latest", "cost", "tokens", "messages", "issues"] as const;
/** Sort order of sessions. */
export type Sort = (typeof SORTS)[number];

/** Filters and sort order of the shown sessions. */
interface SessionChoice {
  /** Returns whether a session matches the query. */
  readonly isFound: (session: ListedSession) => boolean;
  /** Working directory; undefined for any directory. */
  readonly project?: string | undefined;
  /** The program that sessions were imported from, or empty for sessions that were not imported; undefined for any sessions. */
  readonly source?: string | undefined;
  readonly period: Period;
  /** Usage of each session in the period, by its address; undefined until it is known. */
  readonly spent: ReadonlyMap<string, Spent> | undefined;
  readonly sort: Sort;
  /** Addresses of sessions, the best match first; used as the order unless another order was chosen. */
  readonly ranked?: readonly string[] | undefined;
}

/** Session in the list with its subagents' sessions. */
export interface SessionNode {
  readonly session: ListedSession;
  /** Usage in the period, including subagents; undefined until it is known. */
  readonly spent: Spent | undefined;
  readonly subagents: readonly SessionNode[];
  /** Whether it is shown only because of its subagents. */
  readonly isAround: boolean;
}

/**
 * Chooses the sessions to show, and nests subagents' sessions under the sessions that started them.
 *
 * A session that matches only because of its subagents is shown with the matching subagents; a session that itself matches is
 * shown with all of its subagents.
 *
 * @param sessions - Latest first.
 * @param usage - Undefined until it is known; once known, it determines which session started which, even if the list could not.
 * @remarks Cost: O(sessions · log sessions).
 */
export function chooseSessions(
  sessions: readonly ListedSession[],
  usage: IndexUsage | undefined,
  choice: SessionChoice,
): SessionNode[] {
  const { project, source, period, spent, sort, ranked } = choice;
  const listed = new Set(sessions.map(({ href }) => href));
  const findStarter = ({ href, startedBy }: ListedSession) => {
    const starter = usage === undefined ? startedBy : usage.starters.get(href);
    return starter !== undefined && listed.has(starter) ? starter : undefined;
  };
  const byStarter = groupBy(sessions, findStarter);
  const isWanted = (session: ListedSession) =>
    choice.isFound(session) &&
    (project === undefined || session.cwd === project) &&
    (source === undefined || usage?.sources.get(session.href) === source) &&
    isUsedWithin(session, period);
  const makeNodes = (some: readonly ListedSession[], isStarterWanted: boolean): SessionNode[] =>
    some.flatMap((session) => {
      const isChosen = isStarterWanted || isWanted(session);
      const subagents = makeNodes(byStarter.get(session.href) ?? [], isChosen);
      const isAround = !isChosen;
      if (isAround && subagents.length === 0) return [];
      return [
        { session, spent: spent && (spent.get(session.href) ?? makeEmptySpent()), subagents, isAround },
      ];
    });
  return sortNodes(makeNodes(byStarter.get(undefined) ?? [], false), sort, ranked);
}

/** Returns whether a session is in a period: it started before the end of the period and has messages after its start. */
function isUsedWithin({ created, modified }: ListedSession, { from, to }: Period): boolean {
  return (
    (from === undefined || formatDay(new Date(modified)) >= from) &&
    (to === undefined || formatDay(new Date(created)) <= to)
  );
}

function sortNodes(nodes: SessionNode[], sort: Sort, ranked: readonly string[] | undefined): SessionNode[] {
  if (sort === "latest") {
    const ranks = new Map(ranked?.map((href, rank) => [href, rank]));
    const getRank = ({ session, subagents }: SessionNode): number =>
      Math.min(ranks.get(session.href) ?? ranks.size, ...subagents.map(getRank));
    return nodes.sort((a, b) => getRank(a) - getRank(b));
  }
  const getSize = ({ session, spent = makeEmptySpent(), subagents }: SessionNode): number => {
    switch (sort) {
      case "messages":
        return session.messageCount;
      case "issues":
        return subagents.reduce((sum, node) => sum + getSize(node), session.issueCount);
      case "tokens":
        return spent.total;
      case "cost":
        return getDollars(spent);
    }
  };
  return nodes.sort((a, b) => getSize(b) - getSize(a));
}
