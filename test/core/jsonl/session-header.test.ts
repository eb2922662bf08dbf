import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../src/core/format/json.ts";
import { readHeader, readHeaderSettings } from "../../../src/core/jsonl/session-header.ts";

const record = (fields: object): JsonRecord => ({ type: "session", id: "s", ...fields });
const headerOf = (fields: object) => readHeader(record(fields))?.header;

describe("readHeader", () => {
  it("gives a header in today's version, and what the file says beside it", () => {
    const read = readHeader(record({ version: 1, timestamp: "t", cwd: "/x" }));
    expect(read?.header).toEqual({ type: "session", version: 3, id: "s", timestamp: "t", cwd: "/x" });
    expect(read?.record["version"]).toBe(1);
    expect(read?.stated).toEqual({ version: 1, isClear: true });
  });

  it("leaves a newer version as it stands", () => {
    expect(headerOf({ version: 4 })?.version).toBe(4);
    expect(headerOf({ version: "7" })?.version).toBe(7);
  });

  it.each([undefined, null, 7, {}, []])("knows no session whose id is %j", (id) => {
    expect(readHeader(record({ id }))).toBeUndefined();
  });

  it("makes a missing or odd time or folder empty", () => {
    expect(headerOf({})).toMatchObject({ timestamp: "", cwd: "" });
    expect(headerOf({ timestamp: 17, cwd: null })).toMatchObject({ timestamp: "", cwd: "" });
  });

  it("reads branchedFrom as parentSession, of which the latter wins, and writes no alias", () => {
    expect(headerOf({ branchedFrom: "/a" })).toMatchObject({ parentSession: "/a" });
    expect(headerOf({ branchedFrom: "/a", parentSession: "/b" })).toMatchObject({ parentSession: "/b" });
    expect(headerOf({ branchedFrom: "/a", parentSession: 7 })).toMatchObject({ parentSession: "/a" });
    expect(headerOf({ branchedFrom: "/a" })).not.toHaveProperty("branchedFrom");
  });

  it.each([null, "", 7])("knows no parent where parentSession is %j", (parentSession) => {
    expect(headerOf({ parentSession })).not.toHaveProperty("parentSession");
  });

  it("keeps fields that nobody knows, whatever they are called", () => {
    const text =
      '{"type":"session","id":"s","mine":{"a":[1]},"leafId":"x","__proto__":{"cwd":"/evil"},"constructor":1}';
    const header = readHeader(JSON.parse(text))?.header;
    expect(header).toMatchObject({ mine: { a: [1] }, leafId: "x", cwd: "" });
    expect(Object.keys(header ?? {})).toContain("__proto__");
    expect(Object.getPrototypeOf(header)).toBe(Object.prototype);
  });
});

describe("headerSettings", () => {
  it("gives the settings that some headers carry", () => {
    expect(readHeaderSettings({ provider: "p", modelId: "m", thinkingLevel: "high" })).toEqual({
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m" },
    });
  });

  it("gives no model by halves, and nothing that is no text", () => {
    for (const header of [
      undefined,
      {},
      { provider: "p" },
      { modelId: "m" },
      { provider: 1, modelId: "m", thinkingLevel: 2 },
    ]) {
      expect(readHeaderSettings(header)).toEqual({ thinkingLevel: undefined, model: undefined });
    }
  });
});
