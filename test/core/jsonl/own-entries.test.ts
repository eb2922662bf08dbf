import { describe, expect, it } from "vitest";
import type { EntryHead } from "../../../src/core/format/head.ts";
import {
  codes,
  entryLine,
  getLeaf,
  headerLine,
  ids,
  joinSession,
  links,
  read,
  TIME,
} from "./support/files.ts";
import { OwnFile, placesById } from "./support/own-file.ts";

const [a, b] = [entryLine("a", null), entryLine("b", "a")];
const head = (id: string, parentId: string | null): EntryHead => ({
  type: "message",
  id,
  parentId,
  timestampMs: Date.parse(TIME),
});

/** Checks an index against one that reads the file again, apart from the order of own entries. */
function expectAsReadAnew(file: OwnFile): void {
  const anew = read(file.text);
  expect([...links(file.index)].sort()).toEqual([...links(anew)].sort());
  expect(placesById(file.index)).toEqual(placesById(anew));
  expect(codes(file.index)).toEqual(codes(anew));
  expect(file.index.position).toBe(anew.position);
  expect(file.index.isMidLine).toBe(anew.isMidLine);
  expect(file.index.missingPending).toEqual([]);
}

describe("an own entry", () => {
  it("is in the tree immediately, at its presumed position", () => {
    const file = new OwnFile().grow(joinSession(a)).append([
      ["x", "a"],
      ["y", "x"],
    ]);
    expect(links(file.index)).toEqual(["a", "x < a", "y < x"]);
    expect(getLeaf(file.index)).toBe("y");
    expect(file.written).toEqual([a, entryLine("x", "a"), entryLine("y", "x")]);
    expect(file.index.expectedEnd).toBe(file.text.length);
    expect(file.index.missingPending).toEqual([1, 2]);
    expect(placesById(file.index)).toEqual(placesById(read(file.text)));
  });

  it("is at its presumed position once that is confirmed", () => {
    const file = new OwnFile()
      .grow(joinSession(a))
      .append([["x", "a"]])
      .look();
    expectAsReadAnew(file);
    file
      .append([["y", "x"]])
      .append([["z", "y"]])
      .look();
    expectAsReadAnew(file);
    expect(links(file.index)).toEqual(["a", "x < a", "y < x", "z < y"]);
  });

  it("may be confirmed twice, and so may none", () => {
    const file = new OwnFile().grow(joinSession(a)).look();
    expectAsReadAnew(file);
    expectAsReadAnew(
      file
        .append([["x", "a"]])
        .look()
        .look(),
    );
  });

  it("is followed by entries of other writers", () => {
    const file = new OwnFile()
      .grow(joinSession(a))
      .append([["x", "a"]])
      .look()
      .grow(`${entryLine("f", "x")}\n`);
    expect(links(file.index)).toEqual(["a", "x < a", "f < x"]);
    expectAsReadAnew(file);
  });

  it("moves the leaf away from a leaf record's target", () => {
    const record = JSON.stringify({ type: "leaf", id: "l", parentId: "b", timestamp: TIME, targetId: "a" });
    const file = new OwnFile().grow(joinSession(a, b, record));
    expect(getLeaf(file.index)).toBe("a");
    expect(getLeaf(file.append([["x", "a"]]).index)).toBe("x");
  });

  it("is the previous entry for another writer's entry without a parent, and counts as a record", () => {
    const bare = entryLine(undefined, undefined);
    const file = new OwnFile()
      .grow(joinSession(a, b))
      .append([["x", "a"]])
      .look()
      .grow(`${bare}\n`);
    expectAsReadAnew(file);
    expect(ids(file.index)).toEqual(ids(read(file.text)));
    expect(links(file.index)[3]).toMatch(/ < x$/);
  });
});

describe("own entries among foreign ones", () => {
  const foreign = `${entryLine("f", "a")}\n${entryLine("g", "f")}\n`;

  it("are found after them", () => {
    const file = new OwnFile()
      .grow(joinSession(a))
      .append(
        [
          ["x", "a"],
          ["y", "x"],
        ],
        foreign,
      )
      .look();
    expect([...links(file.index)].sort()).toEqual(["a", "f < a", "g < f", "x < a", "y < x"]);
    expectAsReadAnew(file);
  });

  it("are found before them", () => {
    const file = new OwnFile().grow(joinSession(a)).append([["x", "a"]]);
    file.write(foreign);
    expectAsReadAnew(file.look());
  });

  it("are found between them, written at several times", () => {
    const file = new OwnFile().grow(joinSession(a)).append([["x", "a"]], foreign);
    file.append([["y", "x"]], `${entryLine("h", "x")}\n`).write(`${entryLine("i", "y")}\n`);
    expectAsReadAnew(file.look());
    expectAsReadAnew(file.append([["z", "y"]]).look());
  });

  it("are found if foreign lines are damaged, repeated, or without ids", () => {
    const odd = `???\n${a}\n${entryLine(undefined, undefined)}\n\n`;
    const file = new OwnFile().grow(joinSession(a)).append([["x", "a"]], odd);
    file.write(`${entryLine("a", null, { n: 1 })}\n${entryLine("f", "gone")}\n`);
    expectAsReadAnew(file.look());
  });

  it("keep their parents, and others may be their children", () => {
    const file = new OwnFile()
      .grow(joinSession(a, b))
      .append([["x", "b"]], `${entryLine("f", "x")}\n`)
      .look();
    expect([...links(file.index)].sort()).toEqual(["a", "b < a", "f < x", "x < b"]);
    expectAsReadAnew(file);
  });

  it("appended to a line that another process tore are found", () => {
    for (const torn of [entryLine("f", "a").slice(0, -9), '{"type":"mess', entryLine("f", "a")]) {
      const file = new OwnFile()
        .grow(joinSession(a))
        .append([["x", "a"]], torn)
        .look();
      expectAsReadAnew(file);
      expect(links(file.index)).toContain("x < a");
    }
  });

  it("written again are the same entries, in their new position", () => {
    const file = new OwnFile()
      .grow(joinSession(a))
      .append([["x", "a"]])
      .look()
      .append([["x", "a"]])
      .look();
    expect([file.index.tree.size, file.index.missingPending, file.index.position]).toEqual([
      2,
      [],
      file.size,
    ]);
    expect(file.written[1]).toBe(entryLine("x", "a"));
  });

  it("that are missing are reported", () => {
    const file = new OwnFile().grow(joinSession(a));
    file.index.addPending(head("x", "a"), entryLine("x", "a").length + 1, false);
    file.index.addPending(head("y", "x"), entryLine("y", "x").length + 1, false);
    file.write(`${entryLine("foreign", "a")}\n${entryLine("y", "x")}\n`);
    expect(file.look().index.missingPending).toEqual([1]);
  });
});

describe("a torn tail", () => {
  it.each([
    ["is torn", '{"type":"mess'],
    ["has a legible head", entryLine("t", "a").slice(0, -9)],
    ["is whole", entryLine("t", "a")],
    ["is zero bytes", "\0\0\0"],
    ["is JSON but not an entry", '{"a":1}'],
    ["is complete with a torn one after it", `${entryLine("t", "a")}{"type":"mess`],
  ])("that %s is closed by the line break before an own entry", (_name, tail) => {
    const file = new OwnFile().grow(`${joinSession(a)}${tail}`);
    expect(file.index.isMidLine).toBe(true);
    file.append([
      ["x", "a"],
      ["y", "x"],
    ]);
    expect(file.written).toContain(entryLine("x", "a"));
    expect(file.index.spans.at(file.index.tree.find("y")).line).toBe(5);
    file.look();
    expectAsReadAnew(file);
    expect(file.index.isMidLine).toBe(false);
    file
      .append([["z", "y"]])
      .look()
      .grow(`${entryLine("f", "z")}\n`);
    expectAsReadAnew(file);
  });

  it("that is closed is reported once, in its current state", () => {
    const file = new OwnFile().grow(`${joinSession(a)}{"type":"mess`);
    expect(codes(file.index)).toEqual(["TAIL_TORN 3"]);
    expect(codes(file.append([["x", "a"]]).look().index)).toEqual(["LINE_UNREADABLE 3"]);
  });

  it("that is closed does not count as damage between own entries and those after them", () => {
    const file = new OwnFile()
      .grow(`${joinSession(a)}{"type":"mess`)
      .append([["x", "a"]])
      .look();
    file.grow(`${entryLine("f", "gone")}\n`);
    expect(links(file.index)).toEqual(["a", "x < a", "f"]);
    expectAsReadAnew(file);
  });

  it("that its writer completes before the own line break is whole, and the break a blank line", () => {
    const line = entryLine("t", "a");
    const file = new OwnFile()
      .grow(`${joinSession(a)}${line.slice(0, 30)}`)
      .append([["x", "a"]], `${line.slice(30)}\n`)
      .look();
    expectAsReadAnew(file);
    expect(codes(file.index)).toEqual([]);
    expect([...links(file.index)].sort()).toEqual(["a", "t < a", "x < a"]);
  });

  it("of a file with only a header is none", () => {
    const file = new OwnFile().grow(headerLine());
    expect(file.index.isMidLine).toBe(true);
    expectAsReadAnew(file.append([["x", null]]).look());
    expect(file.text).toBe(joinSession(entryLine("x", null)));
  });
});
