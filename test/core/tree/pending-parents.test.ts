import { describe, expect, it } from "vitest";
import { LateParents } from "../../../src/core/tree/pending-parents.ts";

const finding = (ordinal: number, parentId: string, isOver = false) => ({
  ordinal,
  kind: "missing",
  parentId,
  isOver,
});

describe("LateParents", () => {
  it("releases all entries that wait for a parent, without an event if none was reported", () => {
    const late = new LateParents();
    late.wait(1, 0xa, -1);
    late.wait(2, 0xa, -1);
    late.wait(3, "other", -1);
    expect(late.welcome(0xa)).toEqual({ ordinals: [1, 2], over: [] });
    expect(late.resolve()).toEqual([{ finding: finding(3, "other"), fallback: -1 }]);
  });

  it("reports each entry with a missing parent once", () => {
    const late = new LateParents();
    late.wait(1, 0xa, -1);
    expect(late.resolve()).toEqual([{ finding: finding(1, "0000000a"), fallback: -1 }]);
    expect(late.resolve()).toEqual([]);
    late.wait(2, 0xa, -1);
    expect(late.resolve()).toEqual([{ finding: finding(2, "0000000a"), fallback: -1 }]);
  });

  it("withdraws the report when the parent arrives", () => {
    const late = new LateParents();
    late.wait(1, "p", -1);
    late.resolve();
    late.wait(2, "p", -1);
    expect(late.welcome("p")).toEqual({ ordinals: [1, 2], over: [finding(1, "p", true)] });
    expect(late.welcome("p")).toBeUndefined();
    expect(late.resolve()).toEqual([]);
  });

  it("reports a bridge if there is an entry to attach to, even the first", () => {
    const late = new LateParents();
    late.wait(1, "p", 0);
    expect(late.resolve()).toEqual([{ finding: { ...finding(1, "p"), kind: "bridged" }, fallback: 0 }]);
    expect(late.welcome("p")?.over).toEqual([{ ...finding(1, "p", true), kind: "bridged" }]);
  });

  it("has no waiting entries for an id that no entry named", () => {
    const late = new LateParents();
    expect(late.welcome("__proto__")).toBeUndefined();
    late.wait(1, "__proto__", -1);
    expect(late.welcome("constructor")).toBeUndefined();
    expect(late.welcome("__proto__")).toEqual({ ordinals: [1], over: [] });
  });
});
