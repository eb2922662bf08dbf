import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { IssueLog, makeIssue } from "../../../src/core/jsonl/issue-log.ts";

const at = (line: number) => ({ line, offset: line * 100, length: 7 });

describe("makeIssue", () => {
  it("reports the problem, the place, and the entry", () => {
    expect(makeIssue("PARENT_MISSING", at(2), "e", "gone")).toEqual({
      code: "PARENT_MISSING",
      line: 2,
      offset: 200,
      length: 7,
      entryId: "e",
      message: "The parent gone is not in the file; the entry became a root.",
    });
  });

  it("says no more than is true of the version 0", () => {
    expect(makeIssue("VERSION_UNCLEAR", at(1)).message).toContain("not a whole number above 0");
  });

  it("names no entry if there is none", () => {
    expect(makeIssue("TAIL_TORN", at(1))).not.toHaveProperty("entryId");
  });

  it("copies only line, offset, and length of the place", () => {
    const place = { ...at(1), terminated: true };
    expect(Object.keys(makeIssue("LINE_TOO_LONG", place)).sort()).toEqual([
      "code",
      "length",
      "line",
      "message",
      "offset",
    ]);
  });
});

describe("IssueLog", () => {
  it("lists issues in the order in which they were found, as a copy", () => {
    const log = new IssueLog();
    log.put("NOT_AN_ENTRY", at(5));
    log.put("LINE_UNREADABLE", at(2));
    const list = log.list();
    list.pop();
    expect(log.list().map(({ line }) => line)).toEqual([5, 2]);
  });

  it("reports the same issue once, and different issues of one place each", () => {
    const log = new IssueLog();
    for (let i = 0; i < 3; i++) log.put("BODY_DAMAGED", at(2), "e");
    log.put("RECORDS_GLUED", at(2));
    log.put("PARENT_MISSING", at(2), "e", "a");
    log.put("PARENT_MISSING", at(2), "e", "b");
    expect(log.list()).toHaveLength(4);
  });

  it("puts the issue of the tail last while it exists", () => {
    const log = new IssueLog();
    log.tail = makeIssue("TAIL_TORN", at(9));
    log.put("NOT_AN_ENTRY", at(3));
    expect(log.list().map(({ code }) => code)).toEqual(["NOT_AN_ENTRY", "TAIL_TORN"]);
    log.tail = undefined;
    expect(log.list()).toHaveLength(1);
  });

  it("withdraws the issue of a parent and nothing else", () => {
    const log = new IssueLog();
    const missing = { ordinal: 0, kind: "missing", parentId: "p" } as const;
    log.putLink({ ...missing, isOver: false }, at(2), "e");
    log.putLink({ ...missing, isOver: false }, at(3), "f");
    log.putLink({ ...missing, kind: "bridged", isOver: false }, at(4), "g");
    log.putLink({ ...missing, kind: "cycle", isOver: false }, at(5), "h");
    log.putLink({ ...missing, isOver: true }, at(2), "e");
    log.putLink({ ...missing, isOver: true }, at(4), "g");
    expect(log.list().map(({ code, entryId }) => [code, entryId])).toEqual([
      ["PARENT_MISSING", "f"],
      ["PARENT_BRIDGED", "g"],
      ["PARENT_CYCLE", "h"],
    ]);
    log.putLink({ ...missing, isOver: false }, at(2), "e");
    expect(log.list()).toHaveLength(4);
  });

  it("has a message for each documented code", () => {
    const document = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
    const log = new IssueLog();
    log.put("KEPT_ENTRY_MISSING", at(1), "e", "kept");
    log.put("STATE_INVALID", at(1), "e", "not a number");
    for (const { code, message } of log.list()) {
      expect(document).toContain(`### ${code}`);
      expect(message).toMatch(/kept|not a number/);
    }
  });

  it("lists a limited number and counts the rest, for any file", () => {
    const log = new IssueLog(10_000);
    for (let line = 1; line <= 10_500; line++) log.put("NOT_AN_ENTRY", at(line));
    log.tail = makeIssue("TAIL_TORN", at(10_501));
    const list = log.list();
    expect(list).toHaveLength(10_002);
    expect(list[9_999]).toMatchObject({ code: "NOT_AN_ENTRY", line: 10_000 });
    expect(list[10_000]).toMatchObject({ code: "ISSUES_OMITTED", ...at(10_001) });
    expect(list[10_000]?.message).toMatch(/^500 more /);
    expect(list[10_001]?.code).toBe("TAIL_TORN");
  });
});
