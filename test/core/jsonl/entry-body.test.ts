import { describe, expect, it } from "vitest";
import type { EntryHead } from "../../../src/core/format/head.ts";
import {
  DAMAGED_CUSTOM_TYPE,
  DAMAGED_TYPE,
  decodeEntry,
  encodeCurrentLine,
  makeDamagedEntry,
} from "../../../src/core/jsonl/entry-body.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const head: EntryHead = { type: "message", id: "a", parentId: "b", timestampMs: Date.parse(TIME) };
const bytesOf = (text: string) => new TextEncoder().encode(text);
const at = (version: number) => ({ version, entryIdFrom: (number: number) => `e${number}` });
const user = {
  type: "message",
  id: "a",
  parentId: "b",
  timestamp: TIME,
  message: { role: "user", content: "hi" },
};
const line = JSON.stringify(user);

describe("decodeEntry", () => {
  it("returns the content of the line, including unknown fields and roles", () => {
    const odd = { ...user, extra: [1], message: { role: "alien", x: 1 } };
    expect(decodeEntry(bytesOf(JSON.stringify(odd)), head, at(3))).toEqual(odd);
  });

  it.each([
    ["no JSON", line.slice(0, -1)],
    ["nothing", ""],
    ["a list", `[${line}]`],
    ["two records", line + line],
    ["another type", line.replace('"message"', '"custom"')],
    ["no message", JSON.stringify({ ...user, message: undefined })],
    ["a text for a message", JSON.stringify({ ...user, message: "hi" })],
    ["a list for a message", JSON.stringify({ ...user, message: [] })],
    ["a message without a role", JSON.stringify({ ...user, message: { content: "hi" } })],
    ["a role in the prototype only", `${line.slice(0, line.indexOf('"role"'))}"__proto__":{"role":"user"}}}`],
  ])("treats a message of %s as damaged", (_name, text) => {
    expect(decodeEntry(bytesOf(text), head, at(3))).toBeUndefined();
  });

  it("does not check messages of other types", () => {
    const label = { type: "label", id: "a", parentId: "b", timestamp: TIME };
    expect(decodeEntry(bytesOf(JSON.stringify(label)), { ...head, type: "label" }, at(3))).toEqual(label);
  });

  it("returns the entry with its head in the tree, and keeps a written time", () => {
    const given = decodeEntry(bytesOf(line), { ...head, id: "new", parentId: null, timestampMs: 0 }, at(3));
    expect(given).toEqual({ ...user, id: "new", parentId: null });
  });

  it.each([
    ["a number", Date.parse(TIME), TIME],
    ["nothing legible", Number.NaN, "1970-01-01T00:00:00.000Z"],
    ["a number beyond all dates", 1e300, "1970-01-01T00:00:00.000Z"],
  ])("formats a time that is %s", (_name, timestampMs, timestamp) => {
    const written = bytesOf(JSON.stringify({ ...user, timestamp: 5 }));
    expect(decodeEntry(written, { ...head, timestampMs }, at(3))).toEqual({ ...user, timestamp });
  });

  it("upgrades entries of older versions", () => {
    const hook = bytesOf(JSON.stringify({ ...user, message: { role: "hookMessage" } }));
    expect(decodeEntry(hook, head, at(2))).toMatchObject({ message: { role: "custom" } });
    expect(decodeEntry(hook, head, at(3))).toMatchObject({ message: { role: "hookMessage" } });
    const compaction = bytesOf('{"type":"compaction","firstKeptEntryIndex":2}');
    expect(decodeEntry(compaction, { ...head, type: "compaction" }, at(1))).toEqual({
      type: "compaction",
      id: "a",
      parentId: "b",
      timestamp: TIME,
      firstKeptEntryId: "e2",
    });
  });
});

describe("currentLine", () => {
  it("returns the bytes of a line that agrees with its head, in any spelling", () => {
    for (const text of [line, line.replaceAll(":", ": ")]) {
      const bytes = bytesOf(text);
      expect(encodeCurrentLine(bytes, head, at(3))).toBe(bytes);
      expect(encodeCurrentLine(bytes, head, at(3), (entry) => entry)).toBe(bytes);
    }
  });

  it("re-encodes the line if its head, its version, or a change requires it", () => {
    const other = { ...user, parentId: null };
    expect(encodeCurrentLine(bytesOf(line), { ...head, parentId: null }, at(3))).toBe(JSON.stringify(other));
    expect(encodeCurrentLine(bytesOf(line), head, at(2))).toBe(line);
    const change = { ...user, type: "custom" };
    expect(encodeCurrentLine(bytesOf(line), head, at(3), () => change)).toBe(JSON.stringify(change));
  });

  it("keeps the text of a damaged body, in an entry in its place", () => {
    const torn = line.slice(0, -5);
    expect(JSON.parse(String(encodeCurrentLine(bytesOf(torn), head, at(3))))).toEqual({
      type: "custom",
      id: "a",
      parentId: "b",
      timestamp: TIME,
      customType: DAMAGED_CUSTOM_TYPE,
      data: { type: "message", line: torn },
    });
  });
});

describe("damagedEntry", () => {
  it("has its place in the tree and its original type", () => {
    const base = { type: DAMAGED_TYPE, id: "a", parentId: "b", originalType: "message" };
    expect(makeDamagedEntry(head)).toEqual({ ...base, timestamp: TIME });
    expect(makeDamagedEntry({ ...head, timestampMs: Number.NaN }).timestamp).toBe("1970-01-01T00:00:00.000Z");
  });
});
