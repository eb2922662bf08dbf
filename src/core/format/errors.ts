import { toSafeString } from "./json.ts";

/** Error codes. Each code has its own heading in docs/errors.md. */
export type SessionErrorCode =
  | "NOT_A_SESSION"
  | "SESSION_NOT_FOUND"
  | "SESSION_EXISTS"
  | "SESSION_CLOSED"
  | "SESSION_AMBIGUOUS"
  | "SESSIONS_DIFFER"
  | "INVALID_SESSION_ID"
  | "INVALID_QUERY"
  | "ENTRY_NOT_FOUND"
  | "ENTRY_INVALID"
  | "CHAT_INVALID"
  | "STALE_LEAF"
  | "VERSION_TOO_NEW"
  | "READ_ONLY"
  | "LEASE_HELD"
  | "READ_FAILED"
  | "WRITE_FAILED"
  | "WRITES_LOST"
  | "STORE_UNAVAILABLE"
  | "UPGRADE_FAILED"
  | "SUMMARY_FAILED"
  | "PRICE_FAILED"
  | "NOTHING_TO_COMPACT"
  | "CWD_MISSING"
  | "PACKAGE_MISSING"
  | "PROGRAM_MISSING"
  | "ABORTED";

const BRAND = Symbol.for("sessiontree.SessionError");

/**
 * Any error that this library throws deliberately, except for wrong argument types, which cause a `TypeError`.
 *
 * The message explains what happened and ends with what to do next.
 *
 * @remarks Source: docs/errors.md
 */
export class SessionError extends Error {
  readonly code: SessionErrorCode;
  /** Data for programs: paths, ids, numbers. */
  readonly details: { readonly [key: string]: unknown };

  constructor(
    code: SessionErrorCode,
    message: string,
    options: { details?: SessionError["details"]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SessionError";
    this.code = code;
    this.details = Object.freeze({ ...options.details });
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Returns the message of any thrown value. Never throws. */
export function getErrorMessage(error: unknown): string {
  return tryToSay(() => (error instanceof Error ? error.message || error.name : error));
}

/** Returns the message with the stack, if the error has one. */
export function getErrorTrace(error: unknown): string {
  return tryToSay(() => (error instanceof Error ? (error.stack ?? error.message) : error));
}

function tryToSay(say: () => unknown): string {
  try {
    return String(say());
  } catch (_unspeakable) {
    // An object without a prototype, or with getters that throw, has no message.
    return "a value that has no text";
  }
}

/** Creates the error for an entry that does not exist in a session. */
export function makeEntryNotFoundError(entryId: string): SessionError {
  const message = `Entry ${toSafeString(entryId)} not found in this session; check the id with getEntries().`;
  return new SessionError("ENTRY_NOT_FOUND", message, { details: { entryId } });
}

/** Returns the result of a call, or undefined if it fails with a `SessionError` that has the given code. */
export async function callUnless<T>(code: SessionErrorCode, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isSessionError(error, code)) return undefined;
    throw error;
  }
}

/** Returns the result of a call, or undefined if it throws an error that is harmless or that is reported elsewhere. */
export function callQuietly<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/**
 * Returns whether a caught value is a `SessionError`, including one from another copy of this package.
 *
 * @param error - The caught value.
 * @param code - Code that the error must have. Narrows the type.
 */
export function isSessionError<Code extends SessionErrorCode = SessionErrorCode>(
  error: unknown,
  code?: Code,
): error is SessionError & { readonly code: Code } {
  if (!(error instanceof Error) || !(BRAND in error)) return false;
  return code === undefined || ("code" in error && error.code === code);
}
