import { describe, expect, it } from "vitest";
import {
  addFilesOfSummary,
  computeFileLists,
  createFileOps,
  extractFileOpsFromMessage,
  formatFileOperations,
  withoutFileOperations,
} from "../../../src/core/compaction/file-operations.ts";
import { call, toolResult as result } from "../../support/messages.ts";
import { assistant } from "./builders.ts";

describe("extractFileOpsFromMessage", () => {
  it("extracts the paths of read, write, and edit", () => {
    const fileOps = createFileOps();
    const calls = [
      call("1", "read", { path: "r" }),
      call("2", "write", { path: "w" }),
      call("3", "edit", { path: "e" }),
      call("4", "grep", { path: "g" }),
      call("5", "read", { path: 7 }),
      call("6", "read", { path: "" }),
    ];
    extractFileOpsFromMessage(assistant("", calls), fileOps);
    expect(fileOps).toEqual({ read: new Set(["r"]), written: new Set(["w"]), edited: new Set(["e"]) });
  });

  it("extracts the paths of nested calls of a tool", () => {
    const fileOps = createFileOps();
    const calls = [{ id: "n", name: "edit", arguments: { path: "inner" }, status: "ok" as const }];
    extractFileOpsFromMessage({ ...result("1", "x"), nestedCalls: { calls, complete: true } }, fileOps);
    expect([...fileOps.edited]).toEqual(["inner"]);
  });

  it.each([
    null,
    {},
    { content: [null] },
    { nestedCalls: 3 },
    { nestedCalls: { calls: [null, { name: "read" }] } },
  ])("finds nothing in %j", (message) => {
    const fileOps = createFileOps();
    extractFileOpsFromMessage(message, fileOps);
    expect(fileOps).toEqual(createFileOps());
  });
});

describe("addFileListsOf", () => {
  it("adds the lists of an earlier summary, modified files as edited", () => {
    const fileOps = createFileOps();
    addFilesOfSummary({ details: { readFiles: ["r", 3], modifiedFiles: ["m"] } }, fileOps);
    expect(fileOps).toEqual({ read: new Set(["r"]), written: new Set(), edited: new Set(["m"]) });
  });

  it("ignores summaries of extensions and details of other kinds", () => {
    const fileOps = createFileOps();
    addFilesOfSummary({ fromHook: true, details: { readFiles: ["r"], modifiedFiles: ["m"] } }, fileOps);
    addFilesOfSummary({ details: "text" }, fileOps);
    addFilesOfSummary({ details: { readFiles: "r" } }, fileOps);
    expect(fileOps).toEqual(createFileOps());
  });
});

describe("computeFileLists", () => {
  it("sorts, and lists a modified file once, as modified", () => {
    const fileOps = {
      read: new Set(["z", "b", "a"]),
      written: new Set(["d", "b"]),
      edited: new Set(["c", "d"]),
    };
    expect(computeFileLists(fileOps)).toEqual({ readFiles: ["a", "z"], modifiedFiles: ["b", "c", "d"] });
  });
});

describe("formatFileOperations", () => {
  it("is empty without files", () => {
    expect(formatFileOperations([], [])).toBe("");
  });

  it("begins with a blank line and writes one path per line", () => {
    expect(formatFileOperations(["a", "b"], ["c"])).toBe(
      "\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>",
    );
  });

  it("omits an empty section", () => {
    expect(formatFileOperations(["a"], [])).toBe("\n\n<read-files>\na\n</read-files>");
    expect(formatFileOperations([], ["c"])).toBe("\n\n<modified-files>\nc\n</modified-files>");
  });
});

describe("withoutFileOperations", () => {
  const fileOps = { read: new Set(["a"]), written: new Set<string>(), edited: new Set(["c"]) };

  it("removes the lists that will be added again", () => {
    expect(withoutFileOperations(`Notes.${formatFileOperations(["a"], ["c"])}`, fileOps)).toBe("Notes.");
    expect(withoutFileOperations(`Notes.${formatFileOperations([], ["c"])}`, fileOps)).toBe("Notes.");
  });

  it("keeps the lists that no details hold", () => {
    const foreign = `Notes.${formatFileOperations(["a", "unknown"], [])}`;
    expect(withoutFileOperations(foreign, fileOps)).toBe(foreign);
    const inside = `<read-files>\na\n</read-files>\n\nNotes.`;
    expect(withoutFileOperations(inside, fileOps)).toBe(inside);
  });
});
