import { expect, test } from "vitest";
import { isSessionError, SessionError } from "../../src/errors.ts";
import { translated } from "../../src/postgres/postgres-errors.ts";

const withCode = (code: unknown) => Object.assign(new Error("it said so"), { code });

test.each(["28P01", "42501", "42P01", "3D000", "22021", "54000", "0A000"])("%s is final", (code) => {
  const error = translated(withCode(code), "sessions");
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
])("%s may pass", (code) => {
  const error = withCode(code);
  expect(translated(error, "sessions")).toBe(error);
});

test("what was missing is said how to get, and what is ours stays", () => {
  expect(translated(withCode("42P01"), "sessions")).toMatchObject({
    message: expect.stringMatching(/migrate\(\).*sessions/),
  });
  const own = new SessionError("STALE_LEAF", "Look again.");
  expect(translated(own, "sessions")).toBe(own);
  expect(translated("a text", "sessions")).toBe("a text");
});
