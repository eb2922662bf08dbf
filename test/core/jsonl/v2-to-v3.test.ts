import { describe, expect, it } from "vitest";
import { upgradeV2Record } from "../../../src/core/jsonl/migrate.ts";

describe("upgradeV2Record", () => {
  it("renames the role and keeps the order of the fields and the original record", () => {
    const record = { type: "message", id: "a", message: { a: 1, role: "hookMessage", b: 2 }, more: 1 };
    const before = structuredClone(record);
    expect(JSON.stringify(upgradeV2Record(record))).toBe(
      '{"type":"message","id":"a","message":{"a":1,"role":"custom","b":2},"more":1}',
    );
    expect(record).toEqual(before);
  });

  it.each([
    [{ type: "message", message: { role: "user" } }],
    [{ type: "message", message: ["hookMessage"] }],
    [{ type: "message", message: null }],
    [{ type: "message" }],
    [{ type: "custom", message: { role: "hookMessage" } }],
  ])("returns %j unchanged", (record) => {
    expect(upgradeV2Record(record)).toBe(record);
  });
});
