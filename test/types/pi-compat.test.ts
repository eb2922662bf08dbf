import type * as Ours from "sessiontree";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { MutuallyAssignable } from "./support/equal.ts";
import type * as Pi from "./support/pi-types.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time.

describe("values flow both ways between our types and pi's", () => {
  test("content blocks and usage", () => {
    expectTypeOf<MutuallyAssignable<Ours.TextContent, Pi.TextContent>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ImageContent, Pi.ImageContent>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ThinkingContent, Pi.ThinkingContent>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ToolCall, Pi.ToolCall>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.Usage, Pi.Usage>>().toEqualTypeOf<true>();
  });

  test("messages", () => {
    expectTypeOf<MutuallyAssignable<Ours.SystemMessage, Pi.SystemMessage>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.UserMessage, Pi.UserMessage>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.AssistantMessage, Pi.AssistantMessage>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ToolResultMessage, Pi.ToolResultMessage>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.BashExecutionMessage, Pi.BashExecutionMessage>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CustomMessage, Pi.CustomMessage>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.BranchSummaryMessage, Pi.BranchSummaryMessage>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CompactionSummaryMessage, Pi.CompactionSummaryMessage>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.Message, Pi.Message>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.AgentMessage, Pi.AgentMessage>>().toEqualTypeOf<true>();
  });

  test("header and entries", () => {
    expectTypeOf<MutuallyAssignable<Ours.SessionHeader, Pi.SessionHeader>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.SessionEntryBase, Pi.SessionEntryBase>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.SessionMessageEntry, Pi.SessionMessageEntry>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.ThinkingLevelChangeEntry, Pi.ThinkingLevelChangeEntry>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ModelChangeEntry, Pi.ModelChangeEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.UsageEntry, Pi.UsageEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CompactionEntry, Pi.CompactionEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.BranchSummaryEntry, Pi.BranchSummaryEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CustomEntry, Pi.CustomEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CustomMessageEntry, Pi.CustomMessageEntry>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.ContextEditableContent, Pi.ContextEditableContent>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.ContextEditEntry, Pi.ContextEditEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.LabelEntry, Pi.LabelEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.SessionInfoEntry, Pi.SessionInfoEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.SessionEntry, Pi.SessionEntry>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.FileEntry, Pi.FileEntry>>().toEqualTypeOf<true>();
  });

  test("trees, contexts, and options", () => {
    expectTypeOf<MutuallyAssignable<Ours.SessionTreeNode, Pi.SessionTreeNode>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.SessionContext, Pi.SessionContext>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.ProjectedSessionEntry, Pi.ProjectedSessionEntry>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.SessionProjection, Pi.SessionProjection>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.NewSessionOptions, Pi.NewSessionOptions>>().toEqualTypeOf<true>();
  });

  test("compaction and branch summaries", () => {
    expectTypeOf<MutuallyAssignable<Ours.CompactionSettings, Pi.CompactionSettings>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CutPointResult, Pi.CutPointResult>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.FileOperations, Pi.FileOperations>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.CompactionResult, Pi.CompactionResult>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CollectEntriesResult, Pi.CollectEntriesResult>
    >().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Ours.BranchPreparation, Pi.BranchPreparation>>().toEqualTypeOf<true>();
  });

  test("extension data with its own types", () => {
    type State = { open: string[] };
    expectTypeOf<MutuallyAssignable<Ours.CustomEntry<State>, Pi.CustomEntry<State>>>().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CustomMessageEntry<State>, Pi.CustomMessageEntry<State>>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CustomMessage<State>, Pi.CustomMessage<State>>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CompactionEntry<State>, Pi.CompactionEntry<State>>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.BranchSummaryEntry<State>, Pi.BranchSummaryEntry<State>>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      MutuallyAssignable<Ours.CompactionResult<State>, Pi.CompactionResult<State>>
    >().toEqualTypeOf<true>();
  });
});

describe("incompatibilities are detected", () => {
  test("a missing or additional literal, field, or null", () => {
    type FewerReasons = Omit<Pi.AssistantMessage, "stopReason"> & { stopReason: "stop" | "length" };
    expectTypeOf<MutuallyAssignable<Ours.AssistantMessage, FewerReasons>>().toEqualTypeOf<false>();
    type NoNull = Omit<Pi.BranchSummaryMessage, "fromId"> & { fromId: string };
    expectTypeOf<MutuallyAssignable<Ours.BranchSummaryMessage, NoNull>>().toEqualTypeOf<false>();
    type OptionalLabel = Omit<Pi.LabelEntry, "label"> & { label?: string };
    expectTypeOf<MutuallyAssignable<Ours.LabelEntry, OptionalLabel>>().toEqualTypeOf<false>();
    type TenTypes = Exclude<Pi.SessionEntry, Pi.UsageEntry>;
    expectTypeOf<MutuallyAssignable<Ours.SessionEntry, TenTypes>>().toEqualTypeOf<false>();
    expectTypeOf<MutuallyAssignable<Ours.AnySessionEntry, Pi.SessionEntry>>().toEqualTypeOf<false>();
  });
});

describe("code written against pi's types", () => {
  /** An extension of pi as it may be written: it switches over the types, and each case has its fields. */
  function describeEntry(entry: Pi.SessionEntry): string {
    switch (entry.type) {
      case "message":
        return entry.message.role;
      case "model_change":
        return `${entry.provider}/${entry.modelId}`;
      case "thinking_level_change":
        return entry.thinkingLevel;
      case "usage":
        return `${entry.kind} ${entry.usage.totalTokens}`;
      case "compaction":
        return `${entry.tokensBefore} ${entry.firstKeptEntryId}`;
      case "branch_summary":
        return `${entry.fromId} ${entry.summary}`;
      case "custom":
      case "custom_message":
        return entry.customType;
      case "context_edit":
      case "label":
        return entry.targetId;
      case "session_info":
        return entry.name ?? "";
    }
  }

  test("returns entries that are drafts and entries of ours", () => {
    expectTypeOf<Pi.SessionEntry>().toExtend<Ours.EntryDraft>();
    expectTypeOf<Pi.SessionEntry>().toExtend<Ours.AnySessionEntry>();
    expectTypeOf<MutuallyAssignable<Ours.ToolDeclaration, Pi.Tool>>().toEqualTypeOf<true>();
  });

  test("accepts our values and returns values that ours accepts", () => {
    const head = { id: "a", parentId: null, timestamp: "t" };
    const ours: Ours.SessionEntry[] = [
      { type: "custom", ...head, customType: "todo" },
      { type: "label", ...head, targetId: "b", label: undefined },
      { type: "message", ...head, message: { role: "user", content: "hi", timestamp: 1 } },
    ];
    expect(ours.map(describeEntry)).toEqual(["todo", "b", "user"]);
    const theirs: Pi.SessionEntry[] = ours;
    const back: Ours.SessionEntry[] = theirs;
    expect(back).toBe(ours);
  });
});
