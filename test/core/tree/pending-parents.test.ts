import { describe, expect, it } from "vitest";
import { LateParents } from "../../../src/core/tree/pending-parents.ts";

const finding = (ordinal: number, parentId: string, isOver = false) => ({
  ordinal,
  kind: "missing",
  parentId,
  isOver,
});

describe("LateParents", () => {
  it("lets all go that wait for a parent, and tells nothing if nothing was told", () => {
    const late = new LateParents();
    late.wait(1, 0xa, -1);
    late.wait(2, 0xa, -1);
    late.wait(3, "other", -1);
    expect(late.welcome(0xa)).toEqual({ ordinals: [1, 2], over: [] });
    expect(late.resolve()).toEqual([{ finding: finding(3, "other"), fallback: -1 }]);
  });

  it("tells once of each whose parent is not there", () => {
    const late = new LateParents();
    late.wait(1, 0xa, -1);
    expect(late.resolve()).toEqual([{ finding: finding(1, "0000000a"), fallback: -1 }]);
    expect(late.resolve()).toEqual([]);
    late.wait(2, 0xa, -1);
    expect(late.resolve()).toEqual([{ finding: finding(2, "0000000a"), fallback: -1 }]);
  });

  it("takes back what it told when the parent comes", () => {
    const late = new LateParents();
    late.wait(1, "p", -1);
    late.resolve();
    late.wait(2, "p", -1);
    expect(late.welcome("p")).toEqual({ ordinals: [1, 2], over: [finding(1, "p", true)] });
    expect(late.welcome("p")).toBeUndefined();
    expect(late.resolve()).toEqual([]);
  });

  it("calls it bridged where there is an entry to hang on, be it the first", () => {
    const late = new LateParents();
    late.wait(1, "p", 0);
    expect(late.resolve()).toEqual([{ finding: { ...finding(1, "p"), kind: "bridged" }, fallback: 0 }]);
    expect(late.welcome("p")?.over).toEqual([{ ...finding(1, "p", true), kind: "bridged" }]);
  });

  it("knows nobody who waits for what nobody named", () => {
    const late = new LateParents();
    expect(late.welcome("__proto__")).toBeUndefined();
    late.wait(1, "__proto__", -1);
    expect(late.welcome("constructor")).toBeUndefined();
    expect(late.welcome("__proto__")).toEqual({ ordinals: [1], over: [] });
  });
});
