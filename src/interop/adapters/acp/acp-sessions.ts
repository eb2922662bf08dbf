import { toRecord } from "../../../core/context/entry-fields.ts";
import { assertArgument, assertStore } from "../../../core/format/arguments.ts";
import { callUnless, makeEntryNotFoundError } from "../../../core/format/errors.ts";
import { assertOptions, makeNumberRule, OBJECT } from "../../../core/format/options.ts";
import { toWellFormedText } from "../../../core/format/well-formed-text.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { isConversation } from "../../../session/manager/entry-maker.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { SessionStore } from "../../../stores/contract/session-store.ts";
import { type AcpSessionInfo, ENTRY_META } from "./acp-types.ts";

/** Parameters of `session/list`. */
export interface AcpListRequest {
  /** Working directory. If set, only sessions with this working directory are returned. */
  readonly cwd?: string | null;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | null;
}

/** A page of sessions. */
export interface AcpSessionPage {
  sessions: AcpSessionInfo[];
  /** Absent on the last page. */
  nextCursor?: string;
}

/** Parameters of `session/fork`. */
export interface AcpForkRequest {
  readonly sessionId: string;
  /** Working directory of the new session. */
  readonly cwd: string;
  /** `sessiontree.entryId`: id of the last entry to copy, as in the updates from `toAcpUpdates`. Default: the leaf. */
  readonly _meta?: { readonly [key: string]: unknown } | null;
}

const PAGE_SIZE = 50;

/**
 * Answers an Agent Client Protocol `session/list` request from a store, latest session first.
 *
 * @param options - `pageSize`: maximum number of sessions per page. Default: 50.
 * @throws {TypeError} If the cursor was not returned by this function.
 * @throws {SessionError} `STORE_UNAVAILABLE`
 * @remarks Source: docs/adapters.md#agent-client-protocol
 */
async function listAcpSessions(
  store: SessionStore,
  request: AcpListRequest = {},
  options: { readonly pageSize?: number } = {},
): Promise<AcpSessionPage> {
  assertStore("store", store);
  assertArgument("request", request, OBJECT);
  const { cwd, cursor } = request;
  assertOptions(options, { pageSize: makeNumberRule(1, "sessions") });
  const pageSize = Math.floor(options.pageSize ?? PAGE_SIZE);
  const after = typeof cursor === "string" ? decodeCursor(cursor) : undefined;
  const sessions: AcpSessionInfo[] = [];
  let last: { readonly id: string; readonly modified: Date } | undefined;
  // An additional row shows whether there is another page.
  const query = { limit: pageSize + 1, ...(typeof cwd === "string" && { cwd }), ...(after && { after }) };
  for await (const row of store.list(query)) {
    if (last !== undefined && sessions.length === pageSize)
      return { sessions, nextCursor: encodeCursor(last) };
    last = row;
    sessions.push({
      sessionId: row.id,
      // The protocol requires a directory. A session without one is opened in that of the process.
      cwd: toWellFormedText(row.cwd) || process.cwd(),
      title: row.title,
      updatedAt: row.modified.toISOString(),
    });
  }
  return { sessions };
}

/**
 * Answers `session/new`: creates a session and writes it immediately, so that a client can load it after the agent is restarted.
 *
 * @returns The new session. After the session is deleted, appends throw `SESSION_NOT_FOUND`.
 * @throws {SessionError} `STORE_UNAVAILABLE` or `WRITE_FAILED`.
 * @remarks Source: docs/adapters.md#agent-client-protocol
 */
async function newAcpSession(
  store: SessionStore,
  request: { readonly cwd: string },
): Promise<SessionManager> {
  assertStore("store", store);
  assertArgument("request", request, OBJECT);
  const { cwd } = request;
  const session = store.create({ cwd, createAtOnce: true, mustExist: true });
  await session.flush();
  return session;
}

/**
 * Answers `session/fork`: copies a branch of a session to a new session.
 *
 * @returns The new session, which has already been written to the store, as with `new`. Empty if the branch has no conversation
 *   yet.
 * @throws {TypeError} If `_meta` contains an entry id that is not a string.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `ENTRY_NOT_FOUND`, `STORE_UNAVAILABLE` or `WRITE_FAILED`.
 * @remarks Source: docs/adapters.md#agent-client-protocol
 */
async function forkAcpSession(store: SessionStore, request: AcpForkRequest): Promise<SessionManager> {
  assertStore("store", store);
  assertArgument("request", request, OBJECT);
  const { sessionId, cwd, _meta } = request;
  const entryId = toRecord(_meta)[ENTRY_META];
  if (entryId !== undefined && typeof entryId !== "string")
    throw new TypeError(`_meta["${ENTRY_META}"] must be the id of an entry.`);
  // Open read-only, because another object may hold the lease. The copy is then opened for writing.
  const from = await store.open(sessionId, { cwd, mode: "read-only" });
  try {
    const leafId = entryId ?? from.getLeafId();
    if (leafId === null || !hasMessages(from, leafId)) return await newAcpSession(store, { cwd });
    const copy = from.fork({ at: leafId });
    await copy.close();
    return await store.open(copy.getSessionId(), { cwd, mustExist: true });
  } finally {
    await from.close();
  }
}

/** @throws {SessionError} `ENTRY_NOT_FOUND` */
function hasMessages(session: SessionManager, leafId: string): boolean {
  if (session.getEntry(leafId) === undefined) throw makeEntryNotFoundError(leafId);
  for (const entry of session.walkUp({ type: "message", fromId: leafId }))
    if (isConversation(entry)) return true;
  return false;
}

/**
 * Answers `session/delete`: deletes a session. Does nothing if the session does not exist.
 *
 * @throws {SessionError} The same errors as the store's `delete`, except `SESSION_NOT_FOUND`.
 */
async function deleteAcpSession(store: SessionStore, request: { readonly sessionId: string }): Promise<void> {
  assertStore("store", store);
  assertArgument("request", request, OBJECT);
  await callUnless("SESSION_NOT_FOUND", () => store.delete(request.sessionId));
}

function encodeCursor({ id, modified }: { readonly id: string; readonly modified: Date }): string {
  return Buffer.from(JSON.stringify({ id, modifiedMs: modified.getTime() })).toString("base64url");
}

function decodeCursor(cursor: string): { id: string; modified: Date } {
  const { id, modifiedMs } = toRecord(parseJson(Buffer.from(cursor, "base64url").toString())?.value);
  const modified = new Date(typeof modifiedMs === "number" ? modifiedMs : Number.NaN);
  if (typeof id === "string" && !Number.isNaN(modified.getTime())) return { id, modified };
  throw new TypeError("The cursor is not from session/list; start again without a cursor.");
}

/**
 * Handlers for an ACP agent's requests about sessions: `session/new`, `session/list`, `session/fork`, and
 * `session/delete`.
 *
 * @remarks Source: docs/adapters.md#agent-client-protocol
 */
export const acpSessions = Object.freeze({
  new: newAcpSession,
  list: listAcpSessions,
  fork: forkAcpSession,
  delete: deleteAcpSession,
});
