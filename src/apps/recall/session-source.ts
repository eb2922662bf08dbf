import { statSync } from "node:fs";
import { readImportOrigin } from "../../catalog/list/deleted-imports.ts";
import { listSessions } from "../../catalog/list/list-sessions.ts";
import { type SearchHit, type SearchSessionOptions, searchSessions } from "../../catalog/search/search.ts";
import { collectUsage, type UsageReport } from "../../catalog/usage/collect-usage.ts";
import type { GroupOptions } from "../../catalog/usage/usage-groups.ts";
import { toText } from "../../core/context/message-parts.ts";
import { MAX_FIRST_MESSAGE, readAddedFacts } from "../../core/facts/session-facts.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import { SessionView } from "../../session/manager/session-view.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { collectStoreUsage } from "../../stores/contract/store-usage.ts";

/** Maximum number of bytes of a session that are searched for its first message. */
const MAX_FRONT = 1024 * 1024;

/** Search text, project, and options of a search; hits are sorted latest first unless they are ranked. */
export interface SourceQuery extends SearchSessionOptions {
  readonly text: string;
  /** Only sessions of this project. */
  readonly cwd: string | undefined;
}

/** Groups of a usage report, and the signal that cancels it. */
export interface SourceUsage extends GroupOptions {
  readonly signal?: AbortSignal;
}

/** Read-only source of sessions. Every method fails with `ABORTED` when its signal aborts. */
export interface SessionSource {
  /** Lists the sessions of a project, or of all projects if none is specified, latest first. */
  list(cwd: string | undefined, signal?: AbortSignal): Promise<readonly SessionRow[]>;
  /** @throws {SessionError} `NOT_A_SESSION`, `SESSION_NOT_FOUND` or `STORE_UNAVAILABLE` */
  read(row: SessionRow, signal?: AbortSignal): Promise<SessionView>;
  /**
   * Returns the whole first message of a session, because a row may have only its start; empty if it is not near the beginning.
   */
  readFirstMessage(row: SessionRow, signal?: AbortSignal): Promise<string>;
  /**
   * Returns the time of the last write to the file that a session was imported from, in Unix milliseconds; undefined if that time
   * was before the import or is unknown.
   */
  findLaterWrite(row: SessionRow): number | undefined;
  search(query: SourceQuery): AsyncIterable<SearchHit>;
  usage(cwd: string | undefined, options: SourceUsage): Promise<UsageReport>;
}

/** Errors that mean a session no longer exists or cannot be read. */
const UNREADABLE = ["SESSION_NOT_FOUND", "NOT_A_SESSION", "READ_FAILED"] as const;

/** Returns whether an error means that a session no longer exists or cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.some((code) => isSessionError(error, code));
}

/** Creates a source for sessions in files. */
export function makeFileSource(scope: Omit<CatalogScope, "cwd">): SessionSource {
  const of = (cwd: string | undefined) => ({ ...scope, ...(cwd !== undefined && { cwd }) });
  return {
    list: (cwd, signal) => listSessions({ ...of(cwd), ...(signal && { signal }) }),
    read: async ({ path = "" }) => SessionView.at(path),
    readFirstMessage: async ({ firstMessage = "" }) => firstMessage,
    findLaterWrite: ({ path = "" }) => callUnlessRefused(() => findLaterWrite(path)),
    search: ({ text, cwd, ...options }) =>
      searchSessions(text, { ...of(cwd), ...options, latestFirst: options.ranked !== true }),
    usage: (cwd, options) => collectUsage({ ...of(cwd), ...options }),
  };
}

/** Creates a source for the sessions of a store. */
export function makeStoreSource(store: SessionStore): SessionSource {
  const of = (cwd: string | undefined) => (cwd === undefined ? {} : { cwd });
  const readBytes = (id: string, signal: AbortSignal | undefined) =>
    store.exportBytes(id, signal && { signal });
  return {
    list: async (cwd, signal) => {
      const rows: SessionRow[] = [];
      for await (const row of store.list({ ...of(cwd), ...(signal && { signal }) })) rows.push(row);
      return rows;
    },
    read: ({ id }, signal) => SessionView.inMemory(readBytes(id, signal), id, "session"),
    readFirstMessage: async ({ id, firstMessage = "" }, signal) =>
      firstMessage.length < MAX_FIRST_MESSAGE ? firstMessage : readFirstMessage(readBytes(id, signal)),
    // A store's sessions may have been imported on another machine.
    findLaterWrite: () => undefined,
    search: ({ text, cwd, ...options }) => store.search(text, { ...of(cwd), ...options }),
    usage: (cwd, options) => collectStoreUsage(store, { ...of(cwd), ...options }),
  };
}

function findLaterWrite(path: string): number | undefined {
  const source = readImportOrigin(path)?.sourcePath ?? "";
  // A database also contains other sessions.
  if (!source.endsWith(".jsonl")) return undefined;
  const writtenMs = statSync(source).mtimeMs;
  return writtenMs > statSync(path).mtimeMs ? writtenMs : undefined;
}

async function readFirstMessage(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [line, read] = ["", 0];
  for await (const piece of bytes) {
    const lines = `${line}${decoder.decode(piece, { stream: true })}`.split("\n");
    line = lines.pop() ?? "";
    for (const text of lines) {
      const record = parseRecord(text) ?? {};
      const { userText } = readAddedFacts(toText(record["type"]), record, undefined);
      if (userText !== undefined) return userText;
    }
    read += piece.length;
    if (read > MAX_FRONT) break;
  }
  return "";
}
