import { describe, expect, test } from "vitest";
import { detectForeignSource } from "../../../src/core/jsonl/foreign-source.ts";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { FOREIGN_FILES } from "../../support/foreign-files.ts";

function sourceOf(text: string, pieceBytes = text.length * 3 + 1) {
  const bytes = Buffer.from(text);
  return detectForeignSource(function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  });
}

const lines = (...records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

const ENTRY = {
  type: "message",
  id: "0000000a",
  parentId: null,
  timestamp: "2026-02-03T22:00:00.000Z",
  message: { role: "user", content: "Hello", timestamp: 1 },
};

/** Record that precedes the decisive ones in many transcripts of Claude Code. */
const SNAPSHOT = { type: "file-history-snapshot", messageId: "u1", snapshot: {}, isSnapshotUpdate: false };

describe.each(FOREIGN_FILES)("%s (%s)", (_what, source, text) => {
  test("is recognized in pieces of any size, with other line breaks, and with a byte order mark", () => {
    for (const size of [1, 7, 64]) expect(sourceOf(text, size)).toBe(source);
    expect(sourceOf(text.replaceAll("\n", "\r\n"))).toBe(source);
    expect(sourceOf(`\uFEFF${text}`)).toBe(source);
    expect(sourceOf(text.trimEnd())).toBe(source);
  });

  test("is recognized after a damaged beginning", () => {
    const isDocument = text.startsWith("{\n") || text.startsWith("[\n");
    if (isDocument) return;
    const [first = "", ...rest] = text.split("\n");
    for (const damage of ["\0".repeat(200_000), "x".repeat(200_000), lines(...Array(40).fill(SNAPSHOT))]) {
      expect(sourceOf(`${damage}\n${text}`)).toBe(source);
    }
    if (rest.length > 2) expect(sourceOf([first.slice(0, 20), ...rest].join("\n"))).toBe(source);
  });

  test("text that quotes its records is not recognized", () => {
    const quoting = { ...ENTRY, message: { role: "toolResult", content: [{ type: "text", text }] } };
    expect(sourceOf(lines(quoting))).toBeUndefined();
    expect(sourceOf(lines({ type: "unknown", data: text, more: [text] }))).toBeUndefined();
  });

  test("one entry of a session outweighs a few foreign records before or after it", () => {
    if (text.startsWith("[\n") || text.startsWith("{\n")) return;
    expect(sourceOf(`${lines(ENTRY)}${text}`)).toBeUndefined();
    expect(sourceOf(`${text}${lines(ENTRY)}`)).toBeUndefined();
  });
});

test("both forms of pi's version 4 are recognized without their headers", () => {
  for (const [, , text] of FOREIGN_FILES.filter(([, source]) => source === "pi-v4")) {
    expect(sourceOf(text.slice(text.indexOf("\n") + 1))).toBe("pi-v4");
  }
});

test("a long transcript remains one, even if entries of a session are appended", () => {
  const [, , text] = FOREIGN_FILES[0] ?? ["", "", ""];
  expect(sourceOf(text.repeat(40) + lines(ENTRY))).toBe("claude-code");
});

test("a database is recognized in pieces of any size, and never as a session", () => {
  const text = `SQLite format 3\0${lines(ENTRY)}`;
  for (const size of [1, 7, 16, 64]) expect(sourceOf(text, size)).toBe("sqlite");
  expect(readSession(text).issues[0]?.message).toContain("is a database. Import it");
  expect(sourceOf("SQLite format 3")).toBeUndefined();
});

test("unknown records have no program", () => {
  expect(sourceOf("")).toBeUndefined();
  expect(sourceOf("prose\n".repeat(100))).toBeUndefined();
  expect(sourceOf(lines({ type: "note", id: "1", timestamp: "2026-01-01T00:00:00.000Z" }))).toBeUndefined();
  expect(sourceOf(lines({ type: "acme.note", id: "1", parentId: null, data: {} }))).toBeUndefined();
  expect(sourceOf(lines({ type: "usage", kind: "compaction", usage: {}, id: "1" }))).toBeUndefined();
  expect(sourceOf(lines([1, 2], [], null, "text", 7))).toBeUndefined();
});
