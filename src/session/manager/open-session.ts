import type { SessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import { assertOptions } from "../../core/format/options.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { copyLines } from "../log/canonical-copy.ts";
import { FileLog } from "../log/file-log.ts";
import { LOAD_RULES, type LoadOptions } from "../log/file-log-options.ts";
import { MemoryLog } from "../log/memory-log.ts";
import { isThere } from "../log/replace-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
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
  makeHeader,
  makeSessionPath,
  type NewSessionOptions,
  SESSION_RULES,
  type SessionOptions,
} from "./session-options.ts";
import type { SessionState } from "./session-state.ts";

const getClock = (options: SessionOptions) => (options.now ?? Date.now)();

/** Begins a session in a new file in the project's folder, and creates the folder. */
export function createLog(cwd: string, options: SessionOptions, session: NewSessionOptions): FileLog {
  const header = makeHeader(cwd, getClock(options), session);
  const folder = getSessionFolder(cwd, options);
  const path = makeSessionPath(folder, header);
  ensureFolder(folder);
  return FileLog.create(path, header, options);
}

/** Begins a session in a folder, in a store, or, if `place` is undefined, in memory. */
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

/** Opens the session at a path, or begins one there if the file is missing or empty. */
export function openLog(path: string, options: SessionOptions): FileLog {
  const absolute = toAbsolutePath(path);
  return FileLog.open(absolute, options) ?? beginAt(absolute, options);
}

/** Does the same as `openLog` without blocking the event loop. */
export async function loadLog(path: string, options: SessionOptions, load: LoadOptions): Promise<FileLog> {
  assertOptions<LoadOptions>(load, LOAD_RULES);
  const absolute = toAbsolutePath(path);
  return (await FileLog.load(absolute, options, load)) ?? beginAt(absolute, options);
}

/** Begins a session at the path of a missing or empty file. */
function beginAt(path: string, options: SessionOptions): FileLog {
  const header = makeHeader(options.cwd ?? process.cwd(), getClock(options));
  const isEmptyFile = isThere(path, options.fs);
  const isRequired = options.mode === "read-only" || options.mustExist === true;
  if (isRequired && !isEmptyFile) throw sessionNotFound(path);
  // An empty file gets its header at once, as in pi: it has nothing to lose.
  const createAtOnce = options.mode !== "read-only" && (isEmptyFile || options.createAtOnce === true);
  return FileLog.create(path, header, { ...options, createAtOnce });
}

/** Makes a session in memory with given entries. A header among them overrides `session.id`. */
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
  const log = new MemoryLog(records.map((record) => `${encodeRecord(record)}\n`).join(""));
  const { header: current } = log.index;
  return log.index.needsUpgrade && current !== undefined
    ? copyToMemory(copyLines(log, planWholeFork(log, current)))
    : log;
}

/** Copies a session of another project into this one, with a new id and in the current version. */
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

/**
 * Copies the path root → `leafId` into a session that names this one as its parent. Without a conversation, its file
 * appears with the first message.
 *
 * @param place - Folder for its file, or a store; undefined keeps it in memory.
 */
export function makeBranchLog(
  state: SessionState,
  leafId: string,
  cwd: string,
  place: string | DerivedSessions | undefined,
  options: SessionOptions,
): SessionLog {
  state.dropReplaced();
  const leaf = state.require(leafId);
  const parentSession = typeof place === "object" ? state.log.index.header?.id : state.log.path;
  const session = parentSession === undefined ? {} : { parentSession };
  const header = makeHeader(cwd, state.options.now(), session);
  const planned = planBranch(state, leaf, header);
  const lines = writeBranchLines(state, planned);
  if (place === undefined) return copyToMemory(lines);
  if (typeof place === "object") return place.begin(planned.header, lines);
  const isWritten = options.createAtOnce === true || hasConversation(state, planned.ordinals);
  return (isWritten ? writeCopy : beginCopy)(makeSessionPath(place, header), lines, options);
}

/** Makes the error for a path at which there is no session. */
export function sessionNotFound(path: string): SessionError {
  const message = `There is no session at ${path}. Check the path, or list the sessions.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}
