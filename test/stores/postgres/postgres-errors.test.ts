import { expect, test } from "vitest";
import { isSessionError, SessionError } from "../../../src/core/format/errors.ts";
import { translateError } from "../../../src/stores/postgres/database.ts";

const withCode = (code: unknown) => Object.assign(new Error("it said so"), { code });

test.each(["28P01", "42501", "42P01", "3D000", "22021", "54000", "0A000"])("%s is permanent", (code) => {
  const error = translateError(withCode(code), "sessions");
  expect(isSessionError(error, "STORE_UNAVAILABLE")).toBe(true);
  expect(error).toMatchObject({ details: { sqlState: code }, cause: { message: "it said so" } });
});

test.each([
  "57P01",
  "08006",
  "53300",
  "40001",
  "40P01",
  "25006",
  "XX000",
  "ECONNRESET",
  "EPIPE",
  undefined,
  5,
])("%s is transient", (code) => {
  const error = withCode(code);
  expect(translateError(error, "sessions")).toBe(error);
});

test("explains how to get what is missing, and keeps our own errors", () => {
  expect(translateError(withCode("42P01"), "sessions")).toMatchObject({
    message: expect.stringMatching(/migrateDatabase\(\).*sessions/),
  });
  const own = new SessionError("STALE_LEAF", "Look again.");
  expect(translateError(own, "sessions")).toBe(own);
  expect(translateError("a text", "sessions")).toBe("a text");
});

test.each([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CRL_HAS_EXPIRED",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
  "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
])("%s is reported as a refused certificate", (code) => {
  expect(translateError(withCode(code), "sessions")).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(/^The database server's certificate was rejected .*it said so/),
    details: { code },
    cause: { message: "it said so" },
  });
});

test.each(["ERR_SSL_UNEXPECTED_EOF_WHILE_READING", "ERR_TLS_HANDSHAKE_TIMEOUT", "EPROTO"])(
  "%s may be a lost connection",
  (code) => {
    const error = withCode(code);
    expect(translateError(error, "sessions")).toBe(error);
  },
);

test.each([
  "The server does not support SSL connections",
  "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string",
])("an error of the driver is permanent: %s", (message) => {
  expect(translateError(new Error(message), "sessions")).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(message),
  });
});
