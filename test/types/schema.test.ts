import { describe, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type * as content from "../../src/schema/content.ts";
import type * as contentSchema from "../../src/schema/content-schema.ts";
import type * as entry from "../../src/schema/entry.ts";
import type * as entrySchema from "../../src/schema/entry-schema.ts";
import type { SessionHeader } from "../../src/schema/header.ts";
import type { sessionHeaderSchema } from "../../src/schema/header-schema.ts";
import type { JsonObject, JsonValue } from "../../src/schema/json.ts";
import type * as jsonSchema from "../../src/schema/json-schema.ts";
import type * as message from "../../src/schema/message.ts";
import type * as messageSchema from "../../src/schema/message-schema.ts";
import type { MutuallyAssignable, SameFields, WithoutIndex } from "./support/equal.ts";

// Everything here fails in the compiler (`npm run types`), not at run time; test/schema tries the schemas on data.

/** True if an interface says what its schema gives and what its schema takes. */
type Proved<Interface, Schema extends z.ZodType> =
  SameFields<Interface, z.output<Schema>> extends true ? SameFields<Interface, z.input<Schema>> : false;

// A host may add roles, also in a test beside this one; the schemas know eight.
type HostMessage = message.CustomAgentMessages[keyof message.CustomAgentMessages];
type KnownMessage = Exclude<message.AgentMessage, HostMessage>;
type Put<T, Fields> = { [K in keyof (Omit<T, keyof Fields> & Fields)]: (Omit<T, keyof Fields> & Fields)[K] };
type KnownMessageEntry = Put<entry.SessionMessageEntry, { message: KnownMessage }>;
type KnownCompactionEntry = Put<entry.CompactionEntry, { retainedTail?: KnownMessage[] }>;
type KnownEntry =
  | Exclude<entry.SessionEntry, { type: "message" | "compaction" }>
  | KnownMessageEntry
  | KnownCompactionEntry;

describe("an interface equals its schema", () => {
  test("JSON values, content blocks and usage", () => {
    expectTypeOf<Proved<JsonValue, typeof jsonSchema.jsonValueSchema>>().toEqualTypeOf<true>();
    expectTypeOf<Proved<JsonObject, typeof jsonSchema.jsonObjectSchema>>().toEqualTypeOf<true>();
    expectTypeOf<Proved<content.TextContent, typeof contentSchema.textContentSchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<content.ImageContent, typeof contentSchema.imageContentSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<content.ThinkingContent, typeof contentSchema.thinkingContentSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<content.ToolCall, typeof contentSchema.toolCallSchema>>().toEqualTypeOf<true>();
    expectTypeOf<Proved<content.Usage, typeof contentSchema.usageSchema>>().toEqualTypeOf<true>();
  });

  test("the eight roles and their parts", () => {
    expectTypeOf<
      Proved<message.ToolDeclaration, typeof messageSchema.toolDeclarationSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.ToolReference, typeof messageSchema.toolReferenceSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<message.StopReason, typeof messageSchema.stopReasonSchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.ThinkingLevel, typeof messageSchema.thinkingLevelSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.NestedToolCall, typeof messageSchema.nestedToolCallSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.SystemMessage, typeof messageSchema.systemMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<message.UserMessage, typeof messageSchema.userMessageSchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.AssistantMessage, typeof messageSchema.assistantMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.ToolResultMessage, typeof messageSchema.toolResultMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.BashExecutionMessage, typeof messageSchema.bashExecutionMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.CustomMessage, typeof messageSchema.customMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.BranchSummaryMessage, typeof messageSchema.branchSummaryMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<message.CompactionSummaryMessage, typeof messageSchema.compactionSummaryMessageSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<KnownMessage, typeof messageSchema.agentMessageSchema>>().toEqualTypeOf<true>();
  });

  test("the header", () => {
    expectTypeOf<Proved<SessionHeader, typeof sessionHeaderSchema>>().toEqualTypeOf<true>();
  });

  test("the eleven entry types, their union, and the unknown", () => {
    expectTypeOf<
      Proved<KnownMessageEntry, typeof entrySchema.sessionMessageEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<KnownCompactionEntry, typeof entrySchema.compactionEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.ThinkingLevelChangeEntry, typeof entrySchema.thinkingLevelChangeEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.ModelChangeEntry, typeof entrySchema.modelChangeEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<entry.UsageEntry, typeof entrySchema.usageEntrySchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.BranchSummaryEntry, typeof entrySchema.branchSummaryEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<entry.CustomEntry, typeof entrySchema.customEntrySchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.CustomMessageEntry, typeof entrySchema.customMessageEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.ContextEditableContent, typeof entrySchema.contextEditableContentSchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.ContextEditEntry, typeof entrySchema.contextEditEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<entry.LabelEntry, typeof entrySchema.labelEntrySchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.SessionInfoEntry, typeof entrySchema.sessionInfoEntrySchema>
    >().toEqualTypeOf<true>();
    expectTypeOf<Proved<KnownEntry, typeof entrySchema.sessionEntrySchema>>().toEqualTypeOf<true>();
    expectTypeOf<
      Proved<entry.SessionEntryBase, typeof entrySchema.unknownEntrySchema>
    >().toEqualTypeOf<true>();
  });

  test("where messages stand, they are those of the union", () => {
    expectTypeOf<entry.SessionMessageEntry["message"]>().toEqualTypeOf<message.AgentMessage>();
    type Tail = { retainedTail?: message.AgentMessage[] };
    expectTypeOf<SameFields<Pick<entry.CompactionEntry, "retainedTail">, Tail>>().toEqualTypeOf<true>();
  });
});

describe("the proof fails when a field differs", () => {
  type Call = content.ToolCall;
  type Schema = typeof contentSchema.toolCallSchema;

  test("in presence, kind, optionality, or depth", () => {
    expectTypeOf<Proved<Omit<Call, "name">, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Omit<Call, "namespace">, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Call & { extra?: string }, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { id: number }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { id: unknown }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { id?: string }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { namespace: string }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { namespace?: string | undefined }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { readonly id: string }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { arguments: object }>, Schema>>().toEqualTypeOf<false>();
    expectTypeOf<Proved<Put<Call, { arguments: JsonObject }>, Schema>>().toEqualTypeOf<false>();
  });

  test("in a nested object, a list element, an index signature or one member of a union", () => {
    type Cost = Put<content.Usage["cost"], { total: string }>;
    expectTypeOf<
      Proved<Put<content.Usage, { cost: Cost }>, typeof contentSchema.usageSchema>
    >().toEqualTypeOf<false>();
    type Bash = typeof messageSchema.bashExecutionMessageSchema;
    expectTypeOf<
      Proved<Put<message.BashExecutionMessage, { exitCode?: number }>, Bash>
    >().toEqualTypeOf<false>();
    type User = Put<message.UserMessage, { content: string | content.TextContent[] }>;
    expectTypeOf<Proved<User, typeof messageSchema.userMessageSchema>>().toEqualTypeOf<false>();
    type System = Put<message.SystemMessage, { sections?: { [name: string]: string } }>;
    expectTypeOf<Proved<System, typeof messageSchema.systemMessageSchema>>().toEqualTypeOf<false>();
    type Fewer = Exclude<KnownMessage, message.CustomMessage>;
    expectTypeOf<Proved<Fewer, typeof messageSchema.agentMessageSchema>>().toEqualTypeOf<false>();
    type Other = Exclude<KnownEntry, entry.LabelEntry> | Put<entry.LabelEntry, { label?: string }>;
    expectTypeOf<Proved<Other, typeof entrySchema.sessionEntrySchema>>().toEqualTypeOf<false>();
  });

  test("because assignability alone would not see an optional field that is missing", () => {
    expectTypeOf<MutuallyAssignable<Call, Omit<Call, "namespace">>>().toEqualTypeOf<true>();
  });

  test("and index signatures of loose objects are all that is taken away", () => {
    expectTypeOf<WithoutIndex<z.output<Schema>>>().toEqualTypeOf<Call>();
    expectTypeOf<SameFields<{ a: string; [key: string]: unknown }, { a: string }>>().toEqualTypeOf<true>();
  });
});
