import { describe, expect, it } from "vitest";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { ColumnTree } from "../../../src/core/tree/column-tree.ts";
import { LabelsAndName } from "../../../src/core/tree/labels-and-name.ts";

/** Session with bodies in memory, which records the bodies that are read. */
class Session {
  readonly tree = new ColumnTree();
  readonly bodies: (AnySessionEntry | undefined)[] = [];
  readonly read: number[] = [];
  fault: Error | undefined;
  inFileOrder = (ordinals: number[]): Iterable<number> => ordinals;
  readonly book = new LabelsAndName(
    this,
    (ordinal) => {
      if (this.fault) throw this.fault;
      this.read.push(ordinal);
      return this.bodies[ordinal];
    },
    (ordinals) => this.inFileOrder(ordinals),
  );

  add(type: string, fields: { [key: string]: unknown } | undefined): void {
    const id = `e${this.tree.size}`;
    this.tree.add(type, id, null, 0);
    const base = { type, id, parentId: null, timestamp: `time of ${id}` };
    this.bodies.push(fields && { ...base, ...fields });
  }

  label(targetId: unknown, label?: unknown): void {
    this.add("label", label === undefined ? { targetId } : { targetId, label });
  }

  labels(): [string, string][] {
    return Array.from(this.book.labels(), ([id, { label }]) => [id, label]);
  }
}

describe("Bookkeeping", () => {
  it("keeps the latest label of each entry, with its author and time", () => {
    const session = new Session();
    session.label("a", "first");
    session.label("b", "other");
    session.label("a", "second");
    expect(session.book.labels().get("a")).toEqual({
      label: "second",
      timestamp: "time of e2",
      entryId: "e2",
    });
    expect(session.labels()).toEqual([
      ["a", "second"],
      ["b", "other"],
    ]);
  });

  it.each([[undefined], [""], [null], [7]])("treats the label %j as none", (label) => {
    const session = new Session();
    session.label("a", "first");
    session.label("a", label);
    expect(session.labels()).toEqual([]);
    session.label("a", "again");
    expect(session.labels()).toEqual([["a", "again"]]);
  });

  it("labels an entry named __proto__, and none if the target is not an id", () => {
    const session = new Session();
    session.label("__proto__", "odd");
    session.label(7, "nothing");
    session.label(undefined, "nothing");
    expect(session.labels()).toEqual([["__proto__", "odd"]]);
  });

  it.each([
    ["  spaced  ", "spaced"],
    ["   ", undefined],
    ["", undefined],
    [null, undefined],
    [undefined, undefined],
  ])("reads the name %j as %j", (name, expected) => {
    const session = new Session();
    session.add("session_info", { name: "before" });
    session.add("session_info", { name });
    expect(session.book.name()).toBe(expected);
  });

  it("ignores labels with a damaged body", () => {
    const session = new Session();
    session.add("session_info", { name: "kept" });
    session.add("session_info", undefined);
    session.add("label", undefined);
    expect([session.book.name(), session.labels()]).toEqual(["kept", []]);
  });

  it("reads the bodies of labels and names only, each once", () => {
    const session = new Session();
    session.add("message", {});
    session.label("e0", "one");
    session.add("custom", { targetId: "e0", label: "no label" });
    session.labels();
    session.add("session_info", { name: "named" });
    session.book.name();
    session.labels();
    expect(session.read).toEqual([1, 3]);
  });

  it("determines the latest by the order of the file", () => {
    const session = new Session();
    session.inFileOrder = (ordinals) => ordinals.toReversed();
    session.add("session_info", { name: "later in the file" });
    session.add("session_info", { name: "earlier in the file" });
    expect(session.book.name()).toBe("later in the file");
  });

  it("retries what could not be read, and counts everything exactly once", () => {
    const session = new Session();
    session.label("a", "one");
    session.fault = new Error("the disk is away");
    expect(() => session.book.labels()).toThrow("the disk is away");
    expect(() => session.book.name()).toThrow("the disk is away");
    session.fault = undefined;
    expect(session.labels()).toEqual([["a", "one"]]);
  });
});
