import { describe, expect, it } from "vitest";
import { splitLineParts } from "../../../src/core/jsonl/line-parts.ts";
import { entryLine } from "./support/files.ts";

const [a, b] = [entryLine("a", null), entryLine("b", "a")];

/** Returns the kinds of a line's parts with the text of each. */
function parts(line: string, isRest = false): [kind: string, text: string][] {
  const bytes = new TextEncoder().encode(line);
  return splitLineParts(bytes, isRest).map(({ kind, start, end }) => [
    kind,
    new TextDecoder().decode(bytes.subarray(start, end)),
  ]);
}

describe("partsOfLine", () => {
  it("finds adjacent records, and nothing in the blanks between them", () => {
    expect(parts(`${a}${b}`)).toEqual([
      ["record", a],
      ["record", b],
    ]);
    expect(parts(` \t${a}  ${b}\r `)).toEqual([
      ["record", a],
      ["record", b],
    ]);
  });

  it("distinguishes legible heads from lost text, before, between, and after records", () => {
    const torn = a.slice(0, -9);
    expect(parts(`${torn}${b}`)).toEqual([
      ["head", torn],
      ["record", b],
    ]);
    expect(parts(`${b}${torn}`)).toEqual([
      ["record", b],
      ["head", torn],
    ]);
    expect(parts(`{"type":"mess${b} ${torn}`)).toEqual([
      ["lost", '{"type":"mess'],
      ["record", b],
      ["head", torn],
    ]);
  });

  it("returns the fields of the head", () => {
    const [part] = splitLineParts(new TextEncoder().encode(b.slice(0, -9)));
    expect(part?.record).toEqual({
      type: "message",
      id: "b",
      parentId: "a",
      timestamp: "2026-02-03T22:52:06.410Z",
    });
  });

  it("reports a piece of a record as lost, and shorter text as noise", () => {
    expect(parts(`${a}x`)).toEqual([
      ["record", a],
      ["noise", "x"],
    ]);
    expect(parts(`${a}}]}${b}`)).toEqual([
      ["record", a],
      ["noise", "}]}"],
      ["record", b],
    ]);
    expect(parts(`${a}text"}`)).toEqual([
      ["record", a],
      ["lost", 'text"}'],
    ]);
  });

  it("reports zero bytes, and searches for a head after them", () => {
    expect(parts(`\0\0${a}`)).toEqual([
      ["zeros", "\0\0"],
      ["record", a],
    ]);
    expect(parts(`\0\0${a.slice(0, -9)}`)).toEqual([
      ["zeros", "\0\0"],
      ["head", a.slice(0, -9)],
    ]);
    expect(parts(`${a} \0 what? \0\0${b}`)).toEqual([
      ["record", a],
      ["noise", "what?"],
      ["record", b],
    ]);
  });

  it("reports any whole line as lost, but the rest of one only if it looks like a record", () => {
    expect(parts("x")).toEqual([["lost", "x"]]);
    expect(parts("x", true)).toEqual([["noise", "x"]]);
    expect(parts('{"', true)).toEqual([["lost", '{"']]);
  });

  it("searches for a head after a body only in a whole line", () => {
    const line = '{"type":"custom","data":{"a":,"id":"c","parentId":"b","timestamp":"t"}';
    expect(parts(line)).toEqual([["head", line]]);
    expect(parts(line, true)).toEqual([["lost", line]]);
    expect(parts(`${a}${line}`)).toEqual([
      ["record", a],
      ["lost", line],
    ]);
  });

  it("finds nothing in white space", () => {
    expect(parts(" \t\r")).toEqual([]);
    expect(parts("")).toEqual([]);
  });
});
