import { join } from "node:path";
import { describeValue } from "../../core/format/describe-value.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { createSessionId } from "../../core/format/ids.ts";
import {
  assertOptions,
  assertSpelledOptions,
  CALLBACK,
  FLAG,
  type OptionRules,
  TEXT,
} from "../../core/format/options.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { makeFolder, realFileSystem } from "../fs/file-system.ts";
import { toFileError } from "../log/file-errors.ts";
import { FILE_LOG_RULES, type FileLogOptions, type LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import {
  getProjectFolder,
  makeSessionFileName,
  PLACES_RULES,
  type SessionPlaces,
  toAbsolutePath,
} from "../log/session-paths.ts";

/** Options for opening or creating a session, accepted wherever pi accepts the string `sessionDir`. */
export interface SessionOptions extends SessionPlaces, FileLogOptions {
  /** A single flat folder for the sessions of all projects. Default: one folder per project, below the agent's folder. */
  readonly sessionDir?: string;
  /** Working directory to use instead of the header's. */
  readonly cwd?: string;
  /**
   * Whether `close` records the current leaf for the next time the session is opened, if it is not the last entry. Default:
   * false.
   */
  readonly persistLeafOnClose?: boolean;
  /**
   * Called before an entry is stored, for example to redact it. Must not change the entry's id, parent, or type, or the session.
   */
  readonly beforePersist?: (entry: AnySessionEntry) => AnySessionEntry;
  /** Returns Unix milliseconds, for tests. Default: the clock. */
  readonly now?: () => number;
}

/** Options for a new session. */
export interface NewSessionOptions {
  /** Session id. Default: a UUIDv7. */
  id?: string;
  /** Path of the session from which this one was forked. */
  parentSession?: string;
}

/** Options for `SessionManager.fork`. */
export interface ForkOptions extends NewSessionOptions {
  /** Id of the last entry to copy; null copies no entries. Default: the leaf. */
  readonly at?: string | null;
  /**
   * Path of the new file, which must not exist. Default: the same storage as for this session, which is a new file in its folder,
   * its store, or memory.
   */
  readonly to?: string;
}

/** Creates and opens sessions derived from another session, for storage other than files and memory. */
export interface DerivedSessions {
  begin(header: SessionHeader, lines?: Iterable<string | Uint8Array>): SessionLog;
  load(id: string, load: LoadOptions): Promise<SessionLog>;
}

/** Options for a session whose derived sessions are in a store. */
export interface LogSessionOptions extends SessionOptions {
  readonly derivedSessions?: DerivedSessions;
}

/** Validation rules for these options. */
export const SESSION_RULES: OptionRules<SessionOptions> = {
  ...PLACES_RULES,
  ...FILE_LOG_RULES,
  sessionDir: TEXT,
  cwd: TEXT,
  persistLeafOnClose: FLAG,
  beforePersist: CALLBACK,
  now: CALLBACK,
};

/** Validation rules for these options; the id has its own check and error. */
export const NEW_SESSION_RULES: OptionRules<Omit<NewSessionOptions, "id">> = { parentSession: TEXT };

/** Validation rules for these options; the entry has its own check and error. */
export const FORK_RULES: OptionRules<Pick<ForkOptions, "to">> = { to: TEXT };

/** Converts pi's string, or undefined, to options, and validates them. */
export function toSessionOptions(given: string | SessionOptions | undefined): SessionOptions {
  if (given === undefined) return {};
  if (typeof given === "string") return { sessionDir: given };
  assertSpelledOptions(given, SESSION_RULES);
  return given;
}

/**
 * Throws if a working directory is not a string, for example because an environment variable is not set.
 *
 * @param name - Name of the called method.
 * @throws {TypeError}
 */
export function assertCwd(cwd: unknown, name: string): asserts cwd is string {
  if (typeof cwd === "string") return;
  throw new TypeError(
    `SessionManager.${name} needs cwd, the working directory of the project, as a string, such as process.cwd(); it is ${describeValue(cwd)}.`,
  );
}

/** Returns the scope in which to find a project's sessions. */
export function getSessionScope(
  cwd: string,
  { sessionDir, ...places }: SessionOptions,
): { cwd: string; sessionDir?: string; places: SessionPlaces } {
  return { cwd, places, ...(sessionDir !== undefined && { sessionDir }) };
}

/** Returns the folder of a project's sessions without creating it. */
export function getSessionFolder(cwd: string, options: SessionOptions): string {
  return options.sessionDir === undefined
    ? getProjectFolder(cwd, options)
    : toAbsolutePath(options.sessionDir);
}

/** Creates a folder for sessions if it is missing. */
export function ensureFolder(folder: string): void {
  try {
    makeFolder(realFileSystem, folder);
  } catch (error) {
    throw toFileError(folder, "write", error);
  }
}

/** Creates the header of a new session, and validates the options. */
export function makeHeader(cwd: string, now: number, options: NewSessionOptions = {}): SessionHeader {
  assertOptions<Omit<NewSessionOptions, "id">>(options, NEW_SESSION_RULES);
  return {
    type: "session",
    version: CURRENT_SESSION_VERSION,
    id: options.id ?? createSessionId(),
    timestamp: new Date(now).toISOString(),
    cwd,
    ...(options.parentSession !== undefined && { parentSession: options.parentSession }),
  };
}

/** Returns the file path for a new session. */
export function makeSessionPath(folder: string, header: SessionHeader): string {
  return join(folder, makeSessionFileName(header.timestamp, header.id));
}

/** Validation rules for the options of `SessionManager.redactEntry`. */
export const REDACT_RULES: OptionRules<{ readonly replacement?: string }> = { replacement: TEXT };
