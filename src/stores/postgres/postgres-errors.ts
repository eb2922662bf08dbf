import { isSessionError, messageOf, SessionError } from "../../core/format/errors.ts";
import { isJsonRecord } from "../../core/format/json.ts";

/**
 * Classes of SQLSTATE that are final: not supported, data, constraints, authorisation, names, rights, limits. After
 * all others, and after errors that the server did not send, a retry may succeed.
 */
const FINAL_CLASSES = ["0A", "22", "23", "28", "3D", "3F", "42", "44", "54"];

/** SQLSTATEs for a missing schema, table, function or column. */
const MISSING_STATES = ["3F000", "42P01", "42883", "42703"];

/**
 * Codes of Node for a rejected server certificate, or a client certificate that the server rejected.
 *
 * @remarks Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const CERTIFICATE_CODES: readonly RegExp[] = [
  /^(?:CERT|CRL)_/,
  /^UNABLE_TO_(?:GET|DECRYPT|DECODE|VERIFY)_/,
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH)$/,
  /^(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/,
  /^ERROR_IN_(?:CERT|CRL)_/,
  /^ERR_TLS_CERT_/,
  /^ERR_SSL_.*(?:CERTIFICATE|UNKNOWN_CA)/,
];

/** Messages of `pg`, without a code, for connections that it always refuses. */
const DRIVER_REFUSES = /^SASL: |does not support SSL connections$/;

/** Returns the SQLSTATE of an error; empty if it has none. */
export function sqlState(error: unknown): string {
  const code = codeOf(error);
  return code.length === 5 ? code : "";
}

/** Makes a final error if the call will always be refused; returns other errors unchanged, for a retry. */
export function translated(error: unknown, schema: string): unknown {
  if (isSessionError(error)) return error;
  const said = messageOf(error);
  const state = sqlState(error);
  if (FINAL_CLASSES.includes(state.slice(0, 2))) {
    const advice = MISSING_STATES.includes(state)
      ? `call migrate() of sessiontree/postgres, or run "sessiontree db migrate", to make the tables in schema ${schema}`
      : "correct what it says (address, password, rights), and try again";
    return refused(`The database refuses it (${state}): ${said}; ${advice}.`, { sqlState: state }, error);
  }
  const code = codeOf(error);
  if (CERTIFICATE_CODES.some((codes) => codes.test(code))) {
    const advice = "give the client the authority that signed it (ssl.ca, or sslrootcert in the address)";
    return refused(
      `The certificate of the database's server is refused (${code}): ${said}; ${advice}.`,
      { code },
      error,
    );
  }
  if (!DRIVER_REFUSES.test(said)) return error;
  const advice = "correct the address (password, sslmode), and try again";
  return refused(`The connection to the database cannot be made: ${said}; ${advice}.`, {}, error);
}

function refused(message: string, details: Readonly<Record<string, string>>, cause: unknown): SessionError {
  return new SessionError("STORE_UNAVAILABLE", message, { details, cause });
}

function codeOf(error: unknown): string {
  const code = isJsonRecord(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : "";
}
