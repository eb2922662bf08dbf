import { statSync } from "node:fs";
import { listSessions } from "../../catalog/list-sessions.ts";
import { searchSessions } from "../../catalog/search.ts";
import type { CatalogScope } from "../../catalog/session-files.ts";
import type { TextMatch } from "../../search/text-matcher.ts";
import { titleOf } from "../../view/session-title.ts";
import { type SessionTotals, totalsOf } from "../../view/session-totals.ts";
import { SessionView } from "../session-view.ts";
import { htmlIndex } from "./html-page.ts";

/** Entries that a search through contents returns at most. */
const MOST_HITS = 200;

/** Makes the page that lists sessions, latest first. */
export async function indexPage(
  scope: CatalogScope,
  name: string,
  { hrefOf, searchUrl }: { readonly hrefOf: (path: string) => string; readonly searchUrl: string },
): Promise<string> {
  const sessions = await listSessions(scope);
  const rows = sessions.map((session) => {
    const { path, id, cwd, modified, messageCount, issueCount = 0 } = session;
    const title = titleOf(session);
    return { href: hrefOf(path), path, id, cwd, title, modified, messageCount, issueCount };
  });
  return htmlIndex({ name, searchUrl, sessions: rows });
}

/** An entry that holds what was searched for. */
export interface IndexHit {
  /** Address of the entry on the page of its session. */
  readonly href: string;
  /** Address of the session's page. */
  readonly session: string;
  readonly role: string;
  readonly snippet: string;
  /** Where in the snippet the text stands, in UTF-16 units. */
  readonly match: TextMatch;
}

/**
 * Searches the contents of sessions.
 *
 * @param signal - Ends the search; what was found by then is given up.
 * @throws {SessionError} `ABORTED`
 */
export async function searchIndex(
  scope: CatalogScope,
  query: string,
  hrefOf: (path: string) => string,
  signal: AbortSignal,
): Promise<IndexHit[]> {
  const hits: IndexHit[] = [];
  if (query.trim() === "") return hits;
  for await (const { session, entryId, role, snippet, match } of searchSessions(query, {
    ...scope,
    limit: MOST_HITS,
    signal,
  })) {
    const href = hrefOf(session.path);
    hits.push({
      href: `${href}#${new URLSearchParams({ entry: entryId })}`,
      session: href,
      role,
      snippet,
      match,
    });
  }
  return hits;
}

/** Reads the totals of sessions, and remembers them until the file changes. */
export class TotalsReader {
  readonly #known = new Map<string, { readonly stamp: string; readonly totals: SessionTotals }>();

  /**
   * @param path - Absolute path of a session.
   * @throws {SessionError} `NOT_A_SESSION` or `SESSION_NOT_FOUND`
   * @remarks Cost: O(bytes) the first time; O(1) while the file stays as it is.
   */
  totalsOf(path: string): SessionTotals {
    const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const stamp = `${size}:${mtimeMs}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.totals;
    const totals = totalsOf(SessionView.at(path));
    this.#known.set(path, { stamp, totals });
    return totals;
  }
}
