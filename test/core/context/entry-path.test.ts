import { describe, expect, it } from "vitest";
import { makeEntryPath } from "../../../src/core/context/entry-path.ts";
import { user } from "../../support/messages.ts";
import { Line } from "./support/entries.ts";

describe("entryPathOf", () => {
  it("returns entries by position and by id", () => {
    const line = new Line();
    line.message(user("a"));
    line.raw("label", {});
    const path = makeEntryPath(line.entries);
    expect(path.length).toBe(2);
    expect(path.typeAt(1)).toBe("label");
    expect(path.entryAt(0)).toBe(line.entries[0]);
    expect(path.entriesAt([1, 0, 9])).toEqual([line.entries[1], line.entries[0], undefined]);
    expect(path.indexOf("e2")).toBe(1);
  });

  it("returns undefined for unknown positions and ids", () => {
    const path = makeEntryPath([]);
    expect([path.typeAt(0), path.entryAt(0), path.indexOf("e1")]).toEqual(["", undefined, -1]);
  });

  it("returns the first of two entries with one id", () => {
    const line = new Line();
    line.message(user("a"));
    line.raw("message", { id: "e1", message: user("b") });
    expect(makeEntryPath(line.entries).indexOf("e1")).toBe(0);
  });
});
