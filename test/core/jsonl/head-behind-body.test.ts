import { readSession } from "sessiontree/core";
import { describe, expect, test } from "vitest";
import { readLegibleHead } from "../../../src/core/jsonl/partial-head.ts";

const HEAD = { type: "message", id: "a1", parentId: null, timestamp: "2025-01-01T00:00:00.000Z" };
const FIELDS = `"id":"a1","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z"`;

function headIn(line: string) {
  return readLegibleHead(new TextEncoder().encode(line), true);
}

describe("a head after a damaged body", () => {
  test.each([
    ["an object", `{"type":"message","message":{zz},${FIELDS}}`],
    ["a list", `{"type":"message","message":[zz],${FIELDS}}`],
    ["a text", `{"type":"message","message":zz "text",${FIELDS}}`],
    ["blanks", `{"type":"message","message":{zz} ,  ${FIELDS.replaceAll('":', '" : ')} }  \t`],
    ["a body that is longer than the window", `{"type":"message","x":"{${"x".repeat(5000)}",zz,${FIELDS}}`],
  ])("follows %s", (_, line) => {
    expect(headIn(line)).toEqual(HEAD);
  });

  test("is also found in a line that is not closed, unless a number at its end may be torn", () => {
    expect(headIn(`{"type":"message","message":{zz},${FIELDS}`)).toEqual(HEAD);
    const line = `{"type":"message","message":{zz},"id":"a1","parentId":null,"timestamp":17`;
    expect(headIn(`${line}}`)).toEqual({ ...HEAD, timestamp: 17 });
    expect(headIn(`${line} `)).toEqual({ ...HEAD, timestamp: 17 });
    expect(headIn(line)).toBeUndefined();
  });

  test.each([
    ["that closes inside the body", `{"type":"message","message":{zz,${FIELDS}}}`],
    ["that the body follows", `{"type":"message",zz,${FIELDS},"message":{}}`],
    ["that is incomplete", `{"type":"message","message":{zz},"id":"a1","parentId":null}`],
    ["without a type in front", `{"message":{zz},${FIELDS}}`],
    ["of blanks alone", `{"type":"message"${" ".repeat(3000)}`],
  ])("is ignored %s", (_, line) => {
    expect(headIn(line)).toBeUndefined();
  });
});

test("lines made to look like many heads cost no more than others", () => {
  const header = `{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}\n`;
  const hostile = `{"type":"x" zz ${`,"id":`.repeat(40)}${" ".repeat(780)}{\n`;
  // Exceeds the timeout if the blanks are read again for each beginning.
  const { entries, issues } = readSession(header + hostile.repeat(10_000));
  expect(entries).toEqual([]);
  expect(issues.length).toBeGreaterThan(0);
});
