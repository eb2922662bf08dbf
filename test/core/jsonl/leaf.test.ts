import { describe, expect, it } from "vitest";
import { codes, entryLine, GrowingFile, getLeaf, joinSession, links, read } from "./support/files.ts";

const [a, b, c] = [entryLine("a", null), entryLine("b", "a"), entryLine("c", "a")];
const leafRecord = (targetId: unknown) =>
  JSON.stringify({ type: "leaf", id: "l", parentId: "c", timestamp: "t", targetId });

describe("the leaf after loading", () => {
  it("is the last entry of the file, whatever its parent", () => {
    expect(getLeaf(read(joinSession(a, b, c)))).toBe("c");
    expect(getLeaf(read(joinSession(c, b, a)))).toBe("a");
    expect(getLeaf(read(joinSession(a, b, c, entryLine("l", "a", { type: "label", targetId: "b" }))))).toBe(
      "l",
    );
  });

  it("is null in a session without entries", () => {
    expect(getLeaf(read(joinSession()))).toBeNull();
    expect(getLeaf(read(""))).toBeNull();
  });

  it("is the last readable entry, whatever follows it", () => {
    for (const end of ["???\n", "[]\n", "\0\0", '{"type":"mess', `${a}\n`]) {
      expect(getLeaf(read(`${joinSession(a, b)}${end}`))).toBe("b");
    }
  });

  it("is the last entry even if its body is damaged or its line has no line break", () => {
    expect(getLeaf(read(joinSession(a, b.slice(0, -9))))).toBe("b");
    expect(getLeaf(read(`${joinSession(a)}${b}`))).toBe("b");
  });
});

describe("a leaf record", () => {
  it("that is the last line and has an existing target moves the leaf to the target", () => {
    const index = read(joinSession(a, b, c, leafRecord("b")));
    expect(getLeaf(index)).toBe("b");
    expect(links(index)).toEqual(["a", "b < a", "c < a", "l < c"]);
    expect(codes(index)).toEqual([]);
  });

  it("is the last line without a line break, and before blank lines", () => {
    for (const end of [leafRecord("b"), `${leafRecord("b")}\r\n\n \n`]) {
      expect(getLeaf(read(`${joinSession(a, b, c)}${end}`))).toBe("b");
    }
  });

  it("is the last line while a torn tail is pending", () => {
    const file = new GrowingFile().grow(joinSession(a, b, c, leafRecord("b")));
    expect(getLeaf(file.grow('{"type":"mess').index)).toBe("b");
    expect(getLeaf(file.grow('age"').index)).toBe("b");
    file.grow("}\n");
    expect(getLeaf(file.index)).toBe(getLeaf(read(file.text)));
    expect(getLeaf(file.index)).not.toBe("b");
  });

  it.each(["gone", 7, null, undefined])("whose target %j does not exist is an ordinary entry", (targetId) => {
    expect(getLeaf(read(joinSession(a, b, c, leafRecord(targetId))))).toBe("l");
  });

  it("that is not the last line has no effect", () => {
    for (const after of [entryLine("d", "c"), "???", "[]", '{"type":"session","id":"s"}', a, "\0\0"]) {
      const last = after.includes('"d"') ? "d" : "l";
      expect(getLeaf(read(joinSession(a, b, c, leafRecord("b"), after)))).toBe(last);
    }
    expect(getLeaf(read(joinSession(a, b, c, `${leafRecord("b")}???`)))).toBe("l");
    expect(getLeaf(read(joinSession(a, b, c, `${leafRecord("b")}\0\0`)))).toBe("l");
    expect(
      getLeaf(read(joinSession(a, b, c, leafRecord("b"), `"${"x".repeat(900)}"`), { maxLineBytes: 800 })),
    ).toBe("l");
  });

  it("moves the leaf again when another follows", () => {
    const again = leafRecord("a").replace('"l"', '"m"');
    expect(getLeaf(read(joinSession(a, b, c, leafRecord("b"), again)))).toBe("a");
  });

  it("applies at the end even if it was in the file before", () => {
    expect(getLeaf(read(joinSession(a, b, leafRecord("a"), c, leafRecord("a"))))).toBe("a");
  });

  it("may refer to itself", () => {
    expect(getLeaf(read(joinSession(a, b, c, leafRecord("l"))))).toBe("l");
  });
});
