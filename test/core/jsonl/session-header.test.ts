import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../src/core/format/json.ts";
import { readHeader } from "../../../src/core/jsonl/session-header.ts";

const record = (fields: object): JsonRecord => ({ type: "session", id: "s", ...fields });
const headerOf = (fields: object) => readHeader(record(fields))?.header;

describe("readHeader", () => {
  it("returns a header in today's version, with the other fields of the file", () => {
    const read = readHeader(record({ version: 1, timestamp: "t", cwd: "/x" }));
    expect(read?.header).toEqual({ type: "session", version: 3, id: "s", timestamp: "t", cwd: "/x" });
    expect(read?.record["version"]).toBe(1);
    expect(read?.stated).toEqual({ version: 1, isClear: true });
  });

  it("keeps a newer version", () => {
    expect(headerOf({ version: 4 })?.version).toBe(4);
    expect(headerOf({ version: "7" })?.version).toBe(7);
  });

  it.each([undefined, null, 7, {}, []])("rejects a session with the id %j", (id) => {
    expect(readHeader(record({ id }))).toBeUndefined();
  });

  it("returns an empty string for a missing or invalid time or folder", () => {
    expect(headerOf({})).toMatchObject({ timestamp: "", cwd: "" });
    expect(headerOf({ timestamp: 17, cwd: null })).toMatchObject({ timestamp: "", cwd: "" });
  });

  it("reads branchedFrom as parentSession, which has precedence, and writes no alias", () => {
    expect(headerOf({ branchedFrom: "/a" })).toMatchObject({ parentSession: "/a" });
    expect(headerOf({ branchedFrom: "/a", parentSession: "/b" })).toMatchObject({ parentSession: "/b" });
    expect(headerOf({ branchedFrom: "/a", parentSession: 7 })).toMatchObject({ parentSession: "/a" });
    expect(headerOf({ branchedFrom: "/a" })).not.toHaveProperty("branchedFrom");
  });

  it.each([null, "", 7])("ignores a parentSession of %j", (parentSession) => {
    expect(headerOf({ parentSession })).not.toHaveProperty("parentSession");
  });

  it("keeps unknown fields of any name", () => {
    const text =
      '{"type":"session","id":"s","mine":{"a":[1]},"leafId":"x","__proto__":{"cwd":"/evil"},"constructor":1}';
    const header = readHeader(JSON.parse(text))?.header;
    expect(header).toMatchObject({ mine: { a: [1] }, leafId: "x", cwd: "" });
    expect(Object.keys(header ?? {})).toContain("__proto__");
    expect(Object.getPrototypeOf(header)).toBe(Object.prototype);
  });
});
