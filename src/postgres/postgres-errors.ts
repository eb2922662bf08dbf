import { isSessionError, messageOf, SessionError } from "../errors.ts";
import { isJsonRecord } from "../schema/json.ts";

/**
 * Classes of SQLSTATE that the server will give every time: not supported, data, constraints, authorisation, names,
 * rights, limits. After all others, and after errors that the server did not send, the same call may succeed.
 */
const FINAL_CLASSES = ["0A", "22", "23", "28", "3D", "3F", "42", "44", "54"];

/** What is not there if no tables were made: schema, table, function, column. */
const MISSING_STATES = ["3F000", "42P01", "42883", "42703"];

/** Gives the SQLSTATE of an error; empty if it has none. */
export function sqlState(error: unknown): string {
  const code = isJsonRecord(error) ? error["code"] : undefined;
  return typeof code === "string" && code.length === 5 ? code : "";
}

/**
 * Makes a final error of what the server will refuse every time; leaves everything else as it is, to be tried again.
 *
 * @param schema - Where the tables should be.
 */
export function translated(error: unknown, schema: string): unknown {
  const state = sqlState(error);
  if (isSessionError(error) || !FINAL_CLASSES.includes(state.slice(0, 2))) return error;
  const advice = MISSING_STATES.includes(state)
    ? `call migrate() of sessiontree/postgres, or run "sessiontree migrate", to make the tables in schema ${schema}`
    : "correct what it says (address, password, rights), and try again";
  return new SessionError(
    "STORE_UNAVAILABLE",
    `The database refuses it (${state}): ${messageOf(error)}; ${advice}.`,
    {
      details: { sqlState: state },
      cause: error,
    },
  );
}
