import { listSessions } from "../../catalog/list/list-sessions.ts";
import { type SearchHit, type SearchSessionOptions, searchSessions } from "../../catalog/search/search.ts";
import { collectUsage, type UsageReport } from "../../catalog/usage/collect-usage.ts";
import type { GroupOptions } from "../../catalog/usage/usage-groups.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { SessionView } from "../../session/manager/session-view.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { collectStoreUsage } from "../../stores/contract/store-usage.ts";

/** What is looked for, in which project, and how; hits come latest first unless they are ranked. */
export interface SourceQuery extends SearchSessionOptions {
  readonly text: string;
  /** Only sessions of this project. */
  readonly cwd: string | undefined;
}

/** Where sessions are kept that are only looked at. */
export interface SessionSource {
  /** Lists sessions, latest first; of all projects if none is named. */
  list(cwd: string | undefined): Promise<readonly SessionRow[]>;
  /** @throws {SessionError} `NOT_A_SESSION`, `SESSION_NOT_FOUND` or `STORE_UNAVAILABLE` */
  read(row: SessionRow): Promise<SessionView>;
  search(query: SourceQuery): AsyncIterable<SearchHit>;
  usage(cwd: string | undefined, options: GroupOptions): Promise<UsageReport>;
}

/** Returns the sessions in files. */
export function filesAsSource(scope: Omit<CatalogScope, "cwd">): SessionSource {
  const of = (cwd: string | undefined) => ({ ...scope, ...(cwd !== undefined && { cwd }) });
  return {
    list: (cwd) => listSessions(of(cwd)),
    read: async ({ path = "" }) => SessionView.at(path),
    search: ({ text, cwd, ...options }) =>
      searchSessions(text, { ...of(cwd), ...options, latestFirst: options.ranked !== true }),
    usage: (cwd, options) => collectUsage({ ...of(cwd), ...options }),
  };
}

/** Returns the sessions of a store. */
export function storeAsSource(store: SessionStore): SessionSource {
  const list = async (cwd: string | undefined) => {
    const rows: SessionRow[] = [];
    for await (const row of store.list(cwd === undefined ? {} : { cwd })) rows.push(row);
    return rows;
  };
  const read = ({ id }: SessionRow) => SessionView.inMemory(store.exportBytes(id), id, "session");
  return {
    list,
    read,
    search: ({ text, cwd, ...options }) =>
      store.search(text, { ...(cwd !== undefined && { cwd }), ...options }),
    usage: (cwd, options) => collectStoreUsage(store, { ...(cwd !== undefined && { cwd }), ...options }),
  };
}
