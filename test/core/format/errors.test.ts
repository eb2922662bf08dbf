import { describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  callQuietly,
  callUnless,
  isSessionError,
  SessionError,
  type SessionErrorCode,
} from "../../../src/core/format/errors.ts";

describe("SessionError", () => {
  it("is an Error with a code, details, and a cause", () => {
    const cause = new Error("EIO");
    const error = new SessionError("WRITE_FAILED", "Cannot write.", { details: { path: "a.jsonl" }, cause });
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      "SessionError",
      "WRITE_FAILED",
      "Cannot write.",
    ]);
    expect(error.details).toEqual({ path: "a.jsonl" });
    expect(error.cause).toBe(cause);
    expect(String(error)).toBe("SessionError: Cannot write.");
  });

  it("has no details and no cause if none were given", () => {
    const error = new SessionError("ABORTED", "Stopped.");
    expect(error.details).toEqual({});
    expect(Object.hasOwn(error, "cause")).toBe(false);
  });

  it("freezes a copy of its details", () => {
    const details = { id: "a" };
    const error = new SessionError("ENTRY_NOT_FOUND", "No entry.", { details });
    details.id = "b";
    expect(error.details).toEqual({ id: "a" });
    expect(Object.isFrozen(error.details)).toBe(true);
  });

  it("does not show its brand among its fields", () => {
    expect(Object.getOwnPropertySymbols({ ...new SessionError("ABORTED", "Stopped.") })).toEqual([]);
  });
});

describe("isSessionError", () => {
  it("recognizes its own errors, and checks their code if given", () => {
    const error = new SessionError("READ_ONLY", "Open it for writing.");
    expect(isSessionError(error)).toBe(true);
    expect(isSessionError(error, "READ_ONLY")).toBe(true);
    expect(isSessionError(error, "ABORTED")).toBe(false);
  });

  it("narrows the code to the given one, and otherwise not at all", () => {
    const caught: unknown = new SessionError("STALE_LEAF", "Read again.");
    if (isSessionError(caught, "STALE_LEAF")) expectTypeOf(caught.code).toEqualTypeOf<"STALE_LEAF">();
    else expectTypeOf(caught).toBeUnknown();
    if (isSessionError(caught)) expectTypeOf(caught.code).toEqualTypeOf<SessionErrorCode>();
    const known: SessionError = new SessionError("ABORTED", "Stopped.");
    if (!isSessionError(known, "STALE_LEAF")) expectTypeOf(known).toEqualTypeOf<SessionError>();
    expect.assertions(0);
  });

  it("recognizes the errors of another copy of the package, and vice versa", async () => {
    vi.resetModules();
    const other = await import("../../../src/core/format/errors.ts");
    expect(other.SessionError).not.toBe(SessionError);
    const theirs = new other.SessionError("STALE_LEAF", "Read again.");
    expect(theirs).not.toBeInstanceOf(SessionError);
    expect(isSessionError(theirs)).toBe(true);
    expect(isSessionError(theirs, "STALE_LEAF")).toBe(true);
    expect(isSessionError(theirs, "ABORTED")).toBe(false);
    expect(other.isSessionError(new SessionError("ABORTED", "Stopped."), "ABORTED")).toBe(true);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a text", "READ_ONLY"],
    ["another error", new Error("no")],
    [
      "another error with the code",
      Object.assign(new Error("no"), { code: "READ_ONLY", name: "SessionError" }),
    ],
    ["an object with the brand", { [Symbol.for("sessiontree.SessionError")]: true, code: "READ_ONLY" }],
  ])("rejects %s", (_name, value) => {
    expect(isSessionError(value)).toBe(false);
    expect(isSessionError(value, "READ_ONLY")).toBe(false);
  });
});

describe("callUnless", () => {
  const fail = (error: unknown) => async () => {
    throw error;
  };

  it("returns undefined only for the given code", async () => {
    const error = new SessionError("SESSION_NOT_FOUND", "No session.");
    expect(await callUnless("SESSION_NOT_FOUND", async () => 1)).toBe(1);
    expect(await callUnless("SESSION_NOT_FOUND", fail(error))).toBeUndefined();
    await expect(callUnless("SESSION_EXISTS", fail(error))).rejects.toBe(error);
    await expect(callUnless("SESSION_NOT_FOUND", fail(new Error("EIO")))).rejects.toThrow("EIO");
  });
});

describe("callQuietly", () => {
  it("returns undefined for an error, and throws anything else", () => {
    expect(callQuietly(() => 1)).toBe(1);
    expect(
      callQuietly(() => {
        throw new Error("EIO");
      }),
    ).toBeUndefined();
    expect(() =>
      callQuietly(() => {
        throw "stop";
      }),
    ).toThrow("stop");
  });
});
