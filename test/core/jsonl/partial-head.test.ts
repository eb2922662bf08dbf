import { describe, expect, it } from "vitest";
import { readLegibleHead } from "../../../src/core/jsonl/partial-head.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const FRONT = `{"type":"message","id":"a","parentId":"b","timestamp":"${TIME}"`;
const BEHIND = `"id":"a","parentId":"b","timestamp":"${TIME}"}`;
const head = { type: "message", id: "a", parentId: "b", timestamp: TIME };
const headOf = (line: string, mayStandBehind = true) =>
  readLegibleHead(new TextEncoder().encode(line), mayStandBehind);

describe("legibleHead", () => {
  it("reads a head before a torn or damaged body", () => {
    expect(headOf(`${FRONT},"message":{"role":"us`)).toEqual(head);
    expect(headOf(`${FRONT},"message":\0\0\0}`)).toEqual(head);
    expect(headOf(FRONT)).toEqual(head);
  });

  it("reads any order and spelling, with plain fields between", () => {
    const line = `  { "id" : "\\u0061" , "n":-1.5e3,"ok":true, "timestamp": 17 ,"parentId":null, "type":"new", x`;
    expect(headOf(line)).toEqual({ type: "new", id: "a", parentId: null, timestamp: 17 });
  });

  it("does not treat a number as complete if its end is missing", () => {
    const line = '{"type":"message","id":"a","parentId":null,"timestamp":17';
    expect(headOf(line)).toBeUndefined();
    expect(headOf(`${line},`)).toMatchObject({ timestamp: 17 });
  });

  it("uses the first of two fields with one name", () => {
    expect(headOf(`${FRONT},"id":"other","message":x`)).toEqual(head);
  });

  it("reads a head after the body only where one may be", () => {
    const line = `{"type":"custom","customType":"c","data":{"x":\0},${BEHIND}`;
    expect(headOf(line)).toEqual({ ...head, type: "custom" });
    expect(headOf(line, false)).toBeUndefined();
    expect(headOf(`${FRONT},"message":x`, false)).toEqual(head);
  });

  it("finds a head on both sides of a body of a megabyte", () => {
    const body = "\0".repeat(1_000_000);
    expect(headOf(`${FRONT},"message":${body}`)).toEqual(head);
    expect(headOf(`{"type":"custom","data":"${body},${BEHIND}`)).toEqual({ ...head, type: "custom" });
  });

  it.each([
    ["an empty line", ""],
    ["an array", `["type","message"]`],
    ["a header", FRONT.replace("message", "session")],
    ["no type", FRONT.replace("type", "kind")],
    ["no parentId", FRONT.replace("parentId", "parent")],
    ["a number for an id", FRONT.replace('"a"', "7,")],
    ["a parent that is not an id", FRONT.replace('"b"', "true")],
    ["a time that is torn", FRONT.slice(0, -1)],
    ["an id that is damaged", FRONT.replace('"a"', '"a\0')],
    ["a head inside the body", `{"type":"message","message":{${BEHIND},"x":`],
    ["names of members of every object", '{"__proto__":"x","constructor":"y","toString":"z","a":x'],
  ])("finds none in %s", (_name, line) => {
    expect(headOf(line)).toBeUndefined();
  });

  it.each([
    ["quotes", `{${'"'.repeat(1_000_000)}`],
    ["backslashes", `{"${"\\".repeat(1_000_000)}`],
    ["blanks", `{"type":"a"${" ".repeat(1_000_000)}`],
    ["commas", `{"type":"a"${',"id":'.repeat(200_000)}`],
    ["digits", `{"timestamp":${"1".repeat(1_000_000)}`],
  ])("finishes on a megabyte of %s", (_name, line) => {
    // Takes hours if the rest is read again for each position.
    expect(headOf(line)).toBeUndefined();
  });
});
