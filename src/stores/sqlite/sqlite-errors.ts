import {
  getErrorMessage,
  isSessionError,
  SessionError,
  type SessionErrorCode,
} from "../../core/format/errors.ts";
import { isJsonRecord } from "../../core/format/json.ts";

/** Names of primary result codes by number, for clients that report only numbers. Includes only the names used below. */
const NAMES: { readonly [number: number]: string } = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  23: "SQLITE_AUTH",
  26: "SQLITE_NOTADB",
};

/** Final error, which a repeated call would encounter again, and the advice for its message. */
interface FinalAnswer {
  readonly code: SessionErrorCode;
  readonly what: string;
  readonly advice: string;
}

const DAMAGED: FinalAnswer = {
  code: "STORE_UNAVAILABLE",
  what: "The database is damaged",
  advice: 'restore a backup, or save what is left with "sqlite3 FILE .recover"',
};

const FINAL: { readonly [name: string]: FinalAnswer } = {
  SQLITE_READONLY: {
    code: "READ_ONLY",
    what: "The database is read-only",
    advice: "allow this user to write to the file and its folder, and open it for writing",
  },
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: {
    code: "STORE_UNAVAILABLE",
    what: "The file is not a SQLite database",
    advice: "choose another file; session files are opened with SessionManager.open, or listed with --dir",
  },
  SQLITE_ERROR: {
    code: "STORE_UNAVAILABLE",
    what: "The database refuses a statement",
    advice: "check that no other program has changed the tables whose names begin with sessiontree_",
  },
  SQLITE_AUTH: {
    code: "STORE_UNAVAILABLE",
    what: "The database's authorizer refuses a statement",
    advice: "allow reading and writing the tables whose names begin with sessiontree_",
  },
  SQLITE_TOOBIG: {
    code: "STORE_UNAVAILABLE",
    what: "A string is too long for the database",
    advice: "raise its limit (SQLITE_LIMIT_LENGTH)",
  },
};

/** Advice about transient failures, after which the call is repeated. */
const TRANSIENT: { readonly [name: string]: string } = {
  SQLITE_FULL: "the disk is full; free space",
  SQLITE_IOERR: "the disk cannot be read or written; check the disk and its free space",
  SQLITE_BUSY: "another connection is writing; let it end its transaction",
  SQLITE_LOCKED: "the connection is in use; end its running statement",
  SQLITE_CANTOPEN: "a file cannot be opened; check that its folder exists and is writable",
};

/** Matches messages about closed databases from `node:sqlite`, `better-sqlite3`, and Bun, which have no result code. */
const CLOSED = /database (?:connection )?is not open|closed database|statement has been finalized/i;

/** Matches the error message for a connection on which the host has an open transaction. */
const IN_TRANSACTION = /within a transaction/;

/** Returns the name of an error's primary SQLite result code; undefined if the error has no result code. */
function getSqliteCode(error: unknown): string | undefined {
  const { errcode, code } = isJsonRecord(error) ? error : {};
  if (typeof errcode === "number") return NAMES[errcode & 0xff];
  // Durable Objects report the code in the message, after the description.
  const text = typeof code === "string" && code.startsWith("SQLITE_") ? code : getErrorMessage(error);
  return /\bSQLITE_[A-Z]+/.exec(text)?.[0];
}

/**
 * Creates a final error if the call would always fail. Otherwise, creates an error that permits a retry and contains
 * advice.
 *
 * @param place - Path of the database, if known.
 */
export function translateError(error: unknown, place?: string): unknown {
  if (isSessionError(error)) return error;
  const said = getErrorMessage(error);
  const details = place === undefined ? {} : { path: place };
  if (CLOSED.test(said)) {
    const message = "The database handle was closed; close the store before the handle, and open both again.";
    return new SessionError("SESSION_CLOSED", message, { details, cause: error });
  }
  const name = getSqliteCode(error);
  if (name === undefined) return error;
  const where = place === undefined ? "" : ` (${place})`;
  const isInTransaction = IN_TRANSACTION.test(said);
  const final = isInTransaction ? undefined : FINAL[name];
  if (final !== undefined) {
    const { code, what, advice } = final;
    return new SessionError(code, `${what}${where}: ${said} (${name}); ${advice}.`, {
      details: { ...details, sqliteCode: name },
      cause: error,
    });
  }
  const advice = isInTransaction ? "end the transaction that is open on this connection" : TRANSIENT[name];
  return advice === undefined ? error : new Error(`${said} (${name})${where}: ${advice}`, { cause: error });
}
