import { statSync } from "node:fs";
import { Descent, getKinship } from "../../../catalog/list/lineage.ts";
import { listSessions } from "../../../catalog/list/list-sessions.ts";
import type { TextMatch } from "../../../catalog/query/text-matcher.ts";
import { type FileHit, searchSessions } from "../../../catalog/search/search.ts";
import { collectCalls } from "../../../catalog/usage/collect-usage.ts";
import { findMainModel } from "../../../catalog/usage/main-model.ts";
import {
  estimateCalls,
  findStarters,
  groupCalls,
  type PriceFunction,
  type UsageGroup,
} from "../../../catalog/usage/usage-groups.ts";
import type { Spent } from "../../../core/facts/usage-tally.ts";
import { type FileMark, isUnchangedAt, toFileMark } from "../../../session/files/file-mark.ts";
import type { CatalogScope } from "../../../session/files/session-files.ts";
import type { SessionRow } from "../../../session/files/session-row.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import { readKinds } from "../../text/entry-kind.ts";
import { sumFamilyUsage } from "../family-usage.ts";
import { makeHtmlIndex } from "./html-page.ts";

const MAX_HITS = 500;

/** Creates the page that lists sessions, latest first. */
export async function makeIndexPage(
  scope: CatalogScope,
  name: string,
  { makeHref, ...urls }: IndexAddresses,
): Promise<string> {
  const sessions = await listSessions(scope);
  const descent = new Descent(sessions);
  const rows = sessions.map((session) => {
    const { path, id, cwd, created, modified, messageCount, issueCount = 0 } = session;
    const title = session.title;
    const known = { path, id, cwd, title, created, modified, messageCount, issueCount };
    const kinship = getKinship(session);
    const [starter] = kinship === "subagent" ? descent.findParents(session) : [];
    const startedBy = starter && makeHref(starter.path);
    return { href: makeHref(path), ...known, isFork: kinship === "fork", startedBy };
  });
  return makeHtmlIndex({ name, ...urls, sessions: rows });
}

/** Addresses for requests and links of a list page. */
interface IndexAddresses {
  readonly makeHref: (path: string) => string;
  readonly searchUrl: string;
  readonly usageUrl: string;
  /** Undefined if sessions are not imported into this list. */
  readonly importableUrl: string | undefined;
}

/** Usage of one model in one session on one day, including subagents. */
export interface IndexUsageGroup extends Omit<UsageGroup, "by" | "subagentOf" | "sessions"> {
  readonly session: string;
  readonly day: string | null;
  readonly model: string | null;
}

/** Facts about listed sessions, available after their calls have been collected. */
export interface IndexUsage {
  /** By the address of the session's page. */
  readonly sessions: {
    readonly [href: string]: {
      readonly source: string | null;
      readonly model: string | null;
      readonly startedBy?: string;
    };
  };
  readonly groups: readonly IndexUsageGroup[];
}

/** Totals the usage of the listed sessions by day and model, and identifies sessions of subagents. */
export async function sumIndexUsage(
  scope: CatalogScope,
  options: { readonly prices?: PriceFunction; readonly signal: AbortSignal },
  makeHref: (path: string) => string,
): Promise<IndexUsage> {
  const { signal, ...prices } = options;
  const { sessions } = await collectCalls({ ...scope, signal });
  const listed = sessions.filter(({ isOutside = false }) => !isOutside);
  const hrefs = new Map(listed.map(({ row }) => [row, makeHref(row.path ?? row.id)]));
  const starters = findStarters(sessions);
  const { groups } = groupCalls(sessions, { ...prices, by: ["day", "model", "session"] });
  const hrefAt = (row: SessionRow | undefined) => (row === undefined ? undefined : hrefs.get(row));
  return {
    sessions: Object.fromEntries(
      listed.map(({ row, recorded }) => {
        const [{ source }, model] = [recorded, findMainModel(recorded)];
        const startedBy = hrefAt(starters.get(row));
        return [hrefAt(row), { source, model, ...(startedBy !== undefined && { startedBy }) }];
      }),
    ),
    groups: groups.map(({ by, subagentOf: _, sessions: __, ...sums }) => {
      const { day = null, model = null, session } = by;
      return { session: hrefAt(session) ?? "", day, model, ...sums };
    }),
  };
}

/** Usage of one session of a list. */
export interface SessionUsage {
  /** Usage as counted in the list, including subagents; null for a session that is not in the list. */
  readonly spent: Spent | null;
  /** Estimated cost, in dollars, of calls whose records state no cost, by entry id. */
  readonly estimates: { readonly [entryId: string]: number };
}

/**
 * Adds up the usage of one session in a list.
 *
 * @throws {SessionError} `PRICE_FAILED` or `ABORTED`
 */
export async function sumSessionUsage(
  scope: CatalogScope,
  { prices, signal }: { readonly prices?: PriceFunction; readonly signal: AbortSignal },
  path: string,
): Promise<SessionUsage> {
  const found = await sumFamilyUsage(scope, { prices, signal }, path);
  if (found === undefined) return { spent: null, estimates: {} };
  const estimates = prices === undefined ? [] : estimateCalls(found.own.recorded, prices);
  return { spent: found.spent, estimates: Object.fromEntries(estimates) };
}

/** Entry that matches a search. */
export interface IndexHit {
  /** Address of the entry on its session's page. */
  readonly href: string;
  readonly session: string;
  readonly role: string;
  /** Whether the entry is on the path to the session's leaf, or on an abandoned branch. */
  readonly branch: FileHit["branch"];
  readonly snippet: string;
  /** Position of the match in the snippet, in UTF-16 code units. */
  readonly match: TextMatch;
}

/** Result of a content search. */
interface IndexHits {
  /** The best hits first. */
  readonly hits: readonly IndexHit[];
  /** Whether more entries match. */
  readonly hasMore: boolean;
}

/** Searches the contents of sessions until the signal aborts. */
export async function searchIndex(
  scope: CatalogScope,
  query: string,
  makeHref: (path: string) => string,
  signal: AbortSignal,
): Promise<IndexHits> {
  const hits: IndexHit[] = [];
  if (query.trim() === "") return { hits, hasMore: false };
  for await (const { session, entryId, role, branch, snippet, match } of searchSessions(query, {
    ...scope,
    limit: MAX_HITS + 1,
    ranked: true,
    signal,
  })) {
    const href = makeHref(session.path);
    hits.push({
      href: `${href}#${new URLSearchParams({ entry: entryId })}`,
      session: href,
      role,
      branch,
      snippet,
      match,
    });
  }
  return { hits: hits.slice(0, MAX_HITS), hasMore: hits.length > MAX_HITS };
}

/** Failures in a session. */
interface FoundFailures {
  readonly failed: number;
  /** Id of the first entry that reports a failure; undefined if no entry does. */
  readonly first: string | undefined;
}

/** Finds the failures of sessions, and caches them until the file changes. */
export class FailureFinder {
  readonly #known = new Map<string, { readonly mark: FileMark; readonly found: FoundFailures }>();

  findFailures(path: string): FoundFailures {
    const known = this.#known.get(path);
    if (known !== undefined && isUnchangedAt(path, known.mark)) return known.found;
    const stats = statSync(path, { throwIfNoEntry: false });
    const session = SessionView.at(path);
    const { failures } = readKinds(session);
    const [first] = failures;
    const found = {
      failed: failures.size,
      first: first === undefined ? undefined : session.tree.idAt(first),
    };
    if (stats !== undefined) this.#known.set(path, { mark: toFileMark(stats), found });
    return found;
  }
}
