import { join } from "node:path";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isSessionError, SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import { assertOptions } from "../../core/format/options.ts";
import { encodeLiveRecord } from "../../core/jsonl/encode.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { findSessionById } from "../files/find-session.ts";
import { sleepFor } from "../fs/clock.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { copyLines } from "../log/canonical-copy.ts";
import { FileLog } from "../log/file-log.ts";
import { LOAD_RULES, type LoadOptions } from "../log/file-log-options.ts";
import { MemoryLog } from "../log/memory-log.ts";
import { isThere, replaceExclusively } from "../log/replace-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { getSessionsRoot, toAbsolutePath } from "../log/session-paths.ts";
import {
  beginCopy,
  copyToMemory,
  hasConversation,
  planBranch,
  planWholeFork,
  writeBranchLines,
  writeCopy,
} from "./fork.ts";
import {
  type DerivedSessions,
  ensureFolder,
  getSessionFolder,
  getSessionScope,
  makeHeader,
  makeSessionPath,
  type NewSessionOptions,
  SESSION_RULES,
  type SessionOptions,
} from "./session-options.ts";
import type { SessionState } from "./session-state.ts";

const getClock = (options: SessionOptions) => (options.now ?? Date.now)();

/** Creates a session in a new file in the project's folder, and creates the folder. */
export function createLog(cwd: string, options: SessionOptions, session: NewSessionOptions): FileLog {
  const header = makeHeader(cwd, getClock(options), session);
  const folder = getSessionFolder(cwd, options);
  const path = makeSessionPath(folder, header);
  ensureFolder(folder);
  return FileLog.create(path, header, options);
}

/** Creates a session in a folder, in a store, or in memory if `place` is undefined. */
export function makeLog(
  place: string | DerivedSessions | undefined,
  cwd: string,
  options: SessionOptions,
  session: NewSessionOptions,
): SessionLog {
  if (place === undefined) return makeMemoryLog(cwd, options, session);
  if (typeof place === "string") return createLog(cwd, { ...options, sessionDir: place }, session);
  return place.begin(makeHeader(cwd, getClock(options), session));
}

/** Opens the session at a path, or creates one there if the file is missing or empty. */
export function openLog(path: string, options: SessionOptions): FileLog {
  const absolute = toAbsolutePath(path);
  return FileLog.open(absolute, options) ?? beginAt(absolute, options);
}

/** Opens a session as `openLog` does, without blocking the event loop. */
export async function loadLog(path: string, options: SessionOptions, load: LoadOptions): Promise<FileLog> {
  assertOptions<LoadOptions>(load, LOAD_RULES);
  const absolute = toAbsolutePath(path);
  return (await FileLog.load(absolute, options, load)) ?? beginAt(absolute, options);
}

/** Creates a session at the path of a missing or empty file. */
function beginAt(path: string, options: SessionOptions): FileLog {
  const header = makeHeader(options.cwd ?? process.cwd(), getClock(options));
  const isEmptyFile = isThere(path, options.fs);
  const isRequired = options.mode === "read-only" || options.mustExist === true;
  if (isRequired && !isEmptyFile) throw sessionNotFound(path);
  // The header of an empty file is written immediately, as in pi, because it has no content to lose.
  const createAtOnce = options.mode !== "read-only" && (isEmptyFile || options.createAtOnce === true);
  return FileLog.create(path, header, { ...options, createAtOnce });
}

/**
 * Creates a session in memory with the given entries. A header among the entries overrides `session.id`.
 *
 * Reports values that JSON cannot represent. Copies of the session contain a string instead.
 */
export function makeMemoryLog(
  cwd: string,
  options: SessionOptions,
  session: NewSessionOptions,
  entries: readonly (SessionEntry | SessionHeader)[] = [],
): MemoryLog {
  assertOptions(options, SESSION_RULES);
  if (session.id !== undefined) assertValidSessionId(session.id);
  const given = entries.find((entry) => entry.type === "session");
  const header = given ?? makeHeader(cwd, getClock(options), session);
  const records = [header, ...entries.filter((entry) => entry !== given)];
  const encoded = records.map(encodeLiveRecord);
  const log = currentLog(new MemoryLog(encoded.map(({ text }) => `${text}\n`).join("")));
  const { index } = log;
  for (const [i, { replaced }] of encoded.entries()) {
    if (replaced === undefined) continue;
    const ordinal = index.tree.find(records[i]?.id ?? "");
    const entryId = ordinal === NONE ? undefined : index.tree.idAt(ordinal);
    index.report(makeIssue("VALUE_REPLACED", index.spans.at(ordinal), entryId, replaced));
  }
  return log;
}

/** Returns a session in memory in the current version. */
function currentLog(log: MemoryLog): MemoryLog {
  const { header, needsUpgrade } = log.index;
  if (!needsUpgrade || header === undefined) return log;
  return copyToMemory(copyLines(log, planWholeFork(log, header)));
}

/**
 * Runs `work` while holding a lock on a session id, so that no other caller of this function creates a session with that id.
 *
 * @throws {SessionError} `WRITE_FAILED` if another process takes too long.
 */
export function withIdReserved<T>(id: string, options: SessionOptions, work: () => T): T {
  const folder =
    options.sessionDir === undefined ? getSessionsRoot(options) : toAbsolutePath(options.sessionDir);
  ensureFolder(folder);
  return replaceExclusively(realFileSystem, join(folder, id), work);
}

/** Opens the project's session with this exact id, or creates it. Its file is created immediately. */
export function openOrCreateLog(cwd: string, id: string, options: SessionOptions): FileLog {
  assertValidSessionId(id);
  const find = () => findSessionById(getSessionScope(cwd, options), id);
  const open = (path: string) => openLog(path, { ...options, cwd, mustExist: true });
  const found = find();
  if (found !== undefined) return open(found);
  if (options.mode === "read-only") throw sessionNotFound(join(getSessionFolder(cwd, options), id));
  return withIdReserved(id, options, () => {
    // Another process may have created the session in the meantime.
    const made = find();
    return made === undefined ? createWithId(cwd, id, options) : open(made);
  });
}

/** Creates a session with this id. File names begin with the time: retries once if another project's session just took the name. */
function createWithId(cwd: string, id: string, options: SessionOptions): FileLog {
  const create = () => createLog(cwd, { ...options, createAtOnce: true }, { id });
  try {
    return create();
  } catch (error) {
    if (!isSessionError(error, "SESSION_EXISTS")) throw error;
    sleepFor(1);
    return create();
  }
}

/** Copies a session from another project to this one, with a new id and in the current version. */
export function forkLog(
  sourcePath: string,
  targetCwd: string,
  options: SessionOptions,
  session: NewSessionOptions,
): FileLog {
  const sourceFile = toAbsolutePath(sourcePath);
  const source = FileLog.open(sourceFile, { ...getReadingOptions(options), mode: "read-only" });
  if (source === undefined) throw sessionNotFound(sourceFile);
  const parentSession = session.parentSession ?? sourceFile;
  const header = makeHeader(targetCwd, getClock(options), { ...session, parentSession });
  const folder = getSessionFolder(targetCwd, options);
  const path = makeSessionPath(folder, header);
  ensureFolder(folder);
  return writeCopy(path, copyLines(source, planWholeFork(source, header)), options);
}

function getReadingOptions({ fs, maxLineBytes }: SessionOptions): SessionOptions {
  return { ...(fs !== undefined && { fs }), ...(maxLineBytes !== undefined && { maxLineBytes }) };
}

/** Destination for a copy of a branch: a store, a folder, the path of a file, or memory if undefined. */
export type ForkPlace = DerivedSessions | string | { readonly path: string } | undefined;

/**
 * Copies the path root → leaf to a session that records this one as its parent. In a folder, if the path has no conversation, the
 * file is created with the first message.
 *
 * @param leafId - Null copies no entry.
 */
export function makeBranchLog(
  state: SessionState,
  leafId: string | null,
  cwd: string,
  place: ForkPlace,
  options: SessionOptions,
  session: NewSessionOptions = {},
): SessionLog {
  state.dropReplaced();
  const leaf = leafId === null ? NONE : state.require(leafId);
  const isInStore = typeof place === "object" && "begin" in place;
  const parentSession = session.parentSession ?? (isInStore ? state.log.index.header?.id : state.log.path);
  const header = makeHeader(cwd, state.options.now(), {
    ...session,
    ...(parentSession !== undefined && { parentSession }),
  });
  const planned = planBranch(state, leaf, header);
  const lines = writeBranchLines(state, planned);
  if (place === undefined) return copyToMemory(lines);
  if (isInStore) return place.begin(planned.header, lines);
  if (typeof place === "object") return writeCopy(place.path, lines, options);
  const isWritten = options.createAtOnce === true || hasConversation(state, planned.ordinals);
  return (isWritten ? writeCopy : beginCopy)(makeSessionPath(place, header), lines, options);
}

/** Creates the error for a path without a session. */
export function sessionNotFound(path: string): SessionError {
  const message = `There is no session at ${path}. Check the path, or list the sessions.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}
