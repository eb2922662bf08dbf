import { createReadStream } from "node:fs";
import { listSessions } from "../../catalog/list/list-sessions.ts";
import { type SearchHit, searchSessions } from "../../catalog/search/search.ts";
import { deleteSession } from "../../catalog/trash/trash.ts";
import { makeHeaderFacts } from "../../core/facts/session-facts.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import { assertArgument, assertText, OBJECTS } from "../../core/format/arguments.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import { pickDefined } from "../../core/format/json.ts";
import { assertOptions, assertSpelledOptions, FLAG } from "../../core/format/options.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { openToScan } from "../../session/files/file-mark.ts";
import { findSessionById } from "../../session/files/find-session.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { FileRow, SessionRow } from "../../session/files/session-row.ts";
import { createFile, realFileSystem, writeFully } from "../../session/fs/file-system.ts";
import { makeTemporaryPath, removeLeftovers, removeTemporary } from "../../session/fs/temporary-files.ts";
import { putAtFreePath } from "../../session/fs/write-whole.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { FileLog } from "../../session/log/file-log.ts";
import { toLogLine } from "../../session/log/log-lines.ts";
import { getSessionsRoot, toAbsolutePath } from "../../session/log/session-paths.ts";
import { withIdReserved } from "../../session/manager/open-session.ts";
import { SessionManager } from "../../session/manager/session-manager.ts";
import {
  ensureFolder,
  getSessionFolder,
  makeSessionPath,
  SESSION_RULES,
  type SessionOptions,
} from "../../session/manager/session-options.ts";
import { shortenMessage } from "../contract/line-facts.ts";
import { type HeadedBytes, readHeaderFirst } from "../contract/read-header-first.ts";
import { compareSessions, hasText } from "../contract/select-sessions.ts";
import type { ListPosition } from "../contract/session-backend.ts";
import type {
  CreateInStoreOptions,
  ImportIntoStoreOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  OpenOrCreateOptions,
  SearchInStoreOptions,
  SessionStore,
} from "../contract/session-store.ts";
import { sessionExists, sessionNotFound } from "../contract/store-errors.ts";
import {
  CREATE_RULES,
  IMPORT_RULES,
  LIST_RULES,
  OPEN_OR_CREATE_RULES,
  OPEN_RULES,
  SEARCH_RULES,
} from "../contract/store-options.ts";

/** Options for a file store. */
export interface FileStoreOptions extends Omit<SessionOptions, "cwd" | "mode" | "createAtOnce"> {
  /** Whether `delete` removes files permanently instead of moving them to the system trash. Default false. */
  readonly deletesForGood?: boolean;
}

/**
 * Creates a store for the session files in one folder or in the folders of all projects.
 *
 * These are the files that `SessionManager.create` creates and `SessionManager.list` finds. Sessions have a path.
 *
 * @param options - `sessionDir`: one flat folder. Default: one folder per project in the agent's folder.
 */
export function fileStore(options: FileStoreOptions = {}): SessionStore {
  assertSpelledOptions<FileStoreOptions>(options, { ...SESSION_RULES, deletesForGood: FLAG });
  return new FileStore(options);
}

/** Store returned by `fileStore`. */
export class FileStore implements SessionStore {
  readonly supports = {
    durable: true,
    queued: false,
    conditionalAppend: false,
    rewrite: true,
    indexedSearch: false,
    watch: true,
  };
  readonly #options: SessionOptions;
  readonly #deletesForGood: boolean;

  /** Absolute path of the flat folder for all sessions; undefined if each project has its own folder. */
  get folder(): string | undefined {
    const { sessionDir } = this.#options;
    return sessionDir === undefined ? undefined : toAbsolutePath(sessionDir);
  }

  /** Folder that contains the projects' folders. */
  get root(): string {
    return getSessionsRoot(this.#options);
  }

  constructor({ deletesForGood = false, ...options }: FileStoreOptions) {
    this.#options = options;
    this.#deletesForGood = deletesForGood;
  }

  create(options: CreateInStoreOptions): SessionManager {
    assertOptions<Omit<CreateInStoreOptions, "id">>(options, CREATE_RULES);
    const { cwd, id, parentSession, ...session } = options;
    const given = { ...(id !== undefined && { id }), ...(parentSession !== undefined && { parentSession }) };
    const make = () => SessionManager.create(cwd, { ...this.#options, ...session }, given);
    if (id === undefined) return make();
    assertValidSessionId(id);
    const makeFree = () => {
      this.#assertFree(id);
      return make();
    };
    if (options.createAtOnce !== true) return makeFree();
    // Otherwise, two processes could create the session concurrently, each in its own file.
    return withIdReserved(id, this.#options, makeFree);
  }

  async open(id: string, options: OpenInStoreOptions = {}): Promise<SessionManager> {
    assertOptions(options, OPEN_RULES);
    const session = await SessionManager.openAsync(this.#require(id), { ...this.#options, ...options });
    // The session was deleted after it was found, and the opened session is a new one at the same path.
    if (session.getSessionId() !== id) throw sessionNotFound(id);
    return session;
  }

  async openOrCreate(id: string, options: OpenOrCreateOptions): Promise<SessionManager> {
    assertOptions<OpenOrCreateOptions>(options, OPEN_OR_CREATE_RULES);
    const { cwd: _cwd, parentSession: _parent, ...opening } = options;
    refuseAborted(options.signal);
    if (this.#find(id) === undefined) {
      try {
        return this.create({ ...options, id, createAtOnce: true });
      } catch (error) {
        if (!isSessionError(error, "SESSION_EXISTS")) throw error;
      }
    }
    return await this.open(id, opening);
  }

  async *list(options: ListInStoreOptions = {}): AsyncGenerator<SessionRow, void, undefined> {
    assertOptions(options, LIST_RULES);
    const { limit = Number.POSITIVE_INFINITY, name, idPrefix = "", after, signal, cwd } = options;
    const infos = await listSessions({ ...this.#scope(cwd), ...(signal && { signal }) });
    const newest = new Map<string, SessionRow>();
    // Of several files with the same id, the first one counts, which is the most recently modified.
    for (const info of infos) if (!newest.has(info.id)) newest.set(info.id, toRow(info));
    const wanted = [...newest.values()]
      .filter((one) => name === undefined || hasText(one.name ?? "", name))
      .filter((one) => one.id.startsWith(idPrefix))
      .sort((a, b) => compareSessions(getRowPosition(a), getRowPosition(b)))
      .filter(
        (one) => after === undefined || compareSessions(getRowPosition(one), getRowPosition(after)) > 0,
      );
    yield* wanted.slice(0, Math.max(0, Math.floor(Math.min(limit, wanted.length))));
  }

  async *search(
    query: string,
    options: SearchInStoreOptions = {},
  ): AsyncGenerator<SearchHit, void, undefined> {
    assertOptions<SearchInStoreOptions>(options, SEARCH_RULES);
    const { cwd, ...others } = options;
    for await (const hit of searchSessions(query, { ...others, ...this.#scope(cwd) }))
      yield { ...hit, session: toRow(hit.session) };
  }

  async delete(id: string): Promise<void> {
    await deleteSession(this.#require(id), { permanent: this.#deletesForGood });
  }

  async *exportBytes(
    id: string,
    options: ImportIntoStoreOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    assertOptions(options, IMPORT_RULES);
    yield* readFileBytes(this.#require(id), options.signal);
  }

  async importBytes(
    pieces: AsyncIterable<Uint8Array>,
    options: ImportIntoStoreOptions = {},
  ): Promise<string> {
    assertOptions(options, IMPORT_RULES);
    const headed = await readHeaderFirst(pieces, options.signal);
    try {
      return await this.#import(headed);
    } finally {
      await headed.close();
    }
  }

  async #import({ header, pieces }: HeadedBytes): Promise<string> {
    this.#assertFree(header.id);
    const { createdMs } = makeHeaderFacts(header);
    // The time is part of the file name, so it must be valid.
    const timestamp = new Date(createdMs ?? 0).toISOString();
    const folder = getSessionFolder(header.cwd, this.#options);
    const path = makeSessionPath(folder, { ...header, timestamp });
    ensureFolder(folder);
    const spool = makeTemporaryPath(folder);
    try {
      removeLeftovers(realFileSystem, folder);
      await writeSpool(spool, pieces);
      // Another process may have created the session in the meantime.
      this.#assertFree(header.id);
      putAtFreePath(realFileSystem, spool, path);
    } catch (error) {
      removeTemporary(realFileSystem, spool);
      throw toFileError(path, "write", error);
    }
    return header.id;
  }

  async appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void> {
    assertArgument("entries", entries, OBJECTS);
    const log = appendEntriesToFile(this.#require(id), entries);
    if (log === undefined) throw sessionNotFound(id);
    await log.close();
  }

  async close(): Promise<void> {
    // Files are written immediately, and each session releases its own.
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #scope(cwd: string | undefined): CatalogScope {
    return { places: this.#options, ...pickDefined({ cwd, sessionDir: this.#options.sessionDir }) };
  }

  #find(id: string): string | undefined {
    assertText("id", id);
    return findSessionById(this.#scope(undefined), id);
  }

  #require(id: string): string {
    const path = this.#find(id);
    if (path === undefined) throw sessionNotFound(id);
    return path;
  }

  #assertFree(id: string): void {
    if (this.#find(id) !== undefined) throw sessionExists(id);
  }
}

/** Yields the bytes of a file. */
export async function* readFileBytes(
  path: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // An ordinary open would wait for a writer if the path is a pipe.
    const stream = createReadStream(path, { fd: openToScan(path).fd });
    try {
      for await (const piece of stream) {
        refuseAborted(signal);
        if (piece instanceof Uint8Array) yield piece;
      }
    } finally {
      stream.destroy();
    }
  } catch (error) {
    throw toFileError(path, "read", error);
  }
}

/**
 * Appends entries to a session file, except those that it already contains. Returns the log; undefined if the file is
 * missing or empty.
 */
function appendEntriesToFile(path: string, entries: readonly AnySessionEntry[]): FileLog | undefined {
  const log = FileLog.open(path, { mustExist: true });
  if (log === undefined) return undefined;
  try {
    const lines = entries.filter((entry) => !hasEntry(log, entry)).map(toLogLine);
    if (lines.length > 0) log.append(lines, true);
    return log;
  } catch (error) {
    log.release();
    throw error;
  }
}

/** Returns whether a log contains exactly this entry. */
function hasEntry(log: FileLog, entry: AnySessionEntry): boolean {
  const ordinal = log.index.tree.find(entry.id);
  if (ordinal === NONE) return false;
  let isSame = false;
  log.readLines([ordinal], (_, bytes) => {
    isSame = decodeText(bytes) === encodeRecord(entry);
  });
  return isSame;
}

async function writeSpool(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const fd = createFile(realFileSystem, path);
  try {
    for await (const piece of pieces) writeFully(realFileSystem, fd, Buffer.from(piece));
    realFileSystem.fsyncSync(fd);
  } finally {
    realFileSystem.closeSync(fd);
  }
}

function toRow({ firstMessage, ...row }: FileRow): FileRow {
  return {
    ...row,
    ...(firstMessage !== undefined && { firstMessage: shortenMessage(firstMessage) }),
  };
}

function getRowPosition({ modified, id }: Pick<SessionRow, "modified" | "id">): ListPosition {
  return { modifiedMs: modified.getTime(), id };
}
