import { describe, expect, it } from "vitest";
import { compactWithoutModel } from "../../../src/core/compaction/compact-without-model.ts";
import { type CompactionPreparation, prepareCompaction } from "../../../src/core/compaction/plan.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../src/core/compaction/settings.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { call, toolResult as result, tokens, user } from "../../support/messages.ts";
import { assistant, bash, makePath } from "./builders.ts";

function prepare(path: AnySessionEntry[]): CompactionPreparation {
  const preparation = prepareCompaction(path, { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: 10 });
  if (preparation === undefined) throw new Error("Expected a preparation.");
  return preparation;
}

describe("compactWithoutModel", () => {
  const path = makePath(
    user("Port the parser\nto Rust."),
    assistant("I will read it first.", [call("1", "read", { path: "parser.ts" })]),
    result("1", "export function parse() {}"),
    assistant("", [call("2", "write", { path: "parser.rs" })]),
    { ...result("2", "disk full"), isError: true },
    bash("df -h", "100%"),
    user("Try again."),
    user(tokens(10)),
  );

  it("quotes goals and steps, lists files, and states that no model wrote it", () => {
    const { summary, ...rest } = compactWithoutModel(prepare(path));
    expect(rest).toEqual({
      firstKeptEntryId: "e7",
      tokensBefore: prepare(path).tokensBefore,
      details: { readFiles: ["parser.ts"], modifiedFiles: ["parser.rs"], withoutModel: true },
    });
    expect(summary).toContain("## Goal\n\n- Port the parser to Rust.\n- Try again.");
    expect(summary).toContain('- I will read it first.\n- read(path="parser.ts")\n- write(path="parser.rs")');
    expect(summary).toContain("- Failed: disk full\n- The user ran: df -h");
    expect(summary.endsWith("<modified-files>\nparser.rs\n</modified-files>")).toBe(true);
  });

  it("is deterministic", () => {
    expect(compactWithoutModel(prepare(path))).toEqual(compactWithoutModel(prepare(structuredClone(path))));
  });

  it("keeps the summary of a model as notes", () => {
    const earlier = {
      type: "compaction",
      summary: "## Goal\n\nA parser.",
      firstKeptEntryId: "e1",
      tokensBefore: 9,
    };
    const { summary } = compactWithoutModel(
      prepare(makePath(user("a"), earlier, user("Next."), user(tokens(10)))),
    );
    expect(summary).toContain("- Next.\n\n## Earlier Notes\n\n## Goal\n\nA parser.");
  });

  it("continues its own summary instead of quoting it", () => {
    const first = compactWithoutModel(prepare(path));
    const more = [
      { type: "compaction", ...first },
      user("And test it."),
      assistant("Tested."),
      user(tokens(10)),
    ];
    const { summary, details } = compactWithoutModel(
      prepare(makePath(...path.slice(0, 7).map(draftOf), ...more)),
    );
    expect(summary.match(/## Goal/g)).toHaveLength(1);
    expect(summary.match(/parser\.ts\n<\/read-files>/g)).toHaveLength(1);
    expect(summary).toContain("- Port the parser to Rust.\n- Try again.\n- And test it.");
    expect(summary).toContain("- The user ran: df -h\n- Tested.");
    expect(details).toMatchObject({ readFiles: ["parser.ts"], modifiedFiles: ["parser.rs"] });
  });

  it("stays short for a conversation of any length, and keeps the first goal and the newest", () => {
    const many = Array.from({ length: 500 }, (_, i) => [
      user(`Goal ${i} ${"😀".repeat(300)}`),
      assistant(`Step ${i}`),
    ]);
    const { summary } = compactWithoutModel(prepare(makePath(...many.flat(), user(tokens(10)))));
    expect(summary.length).toBeLessThanOrEqual(2048 * 4);
    for (const kept of ["- Goal 0 ", "- Goal 499 ", "- Step 0\n", "- Step 498\n- Step 499"])
      expect(summary).toContain(kept);
    expect(() => encodeURIComponent(summary)).not.toThrow();
  });

  it("never cuts the end of the newest line", () => {
    for (let length = 0; length < 60; length++) {
      const steps = Array.from({ length: 80 }, (_, i) => assistant(`Step ${i} ${"y".repeat(length)} end.`));
      const { summary } = compactWithoutModel(prepare(makePath(user("Go."), ...steps, user(tokens(10)))));
      expect(summary.endsWith(" end.")).toBe(true);
    }
  });

  it("summarizes a conversation without text", () => {
    const silent = { ...user(""), content: [] };
    expect(compactWithoutModel(prepare(makePath(silent, user(tokens(10))))).summary).not.toBe("");
  });

  it("rejects an empty preparation", () => {
    const nothing = { ...prepare(path), messagesToSummarize: [] };
    expect(() => compactWithoutModel(nothing)).toThrow(
      expect.objectContaining({ code: "NOTHING_TO_COMPACT" }),
    );
  });
});

function draftOf({ id, parentId, timestamp, ...draft }: AnySessionEntry) {
  return draft;
}
