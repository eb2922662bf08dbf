import { z } from "zod";
import {
  assistantBlocksSchema,
  textOrBlocksSchema,
  textOrImageBlocksSchema,
  usageSchema,
} from "./content-schema.ts";
import { listOf, orUndefined } from "./list-schema.ts";
import { agentMessageSchema, systemMessageSchema } from "./message-schema.ts";

const head = {
  id: z.string(),
  parentId: z.union([z.string(), z.null()], { error: "expected a string or null" }),
  timestamp: z.string(),
};

/** Schema of `UnknownEntry`: the head, and anything. */
export const unknownEntrySchema = z.looseObject({ type: z.string(), ...head });

/** Schema of `SessionMessageEntry`, with the eight roles that this library knows. */
export const sessionMessageEntrySchema = z.looseObject({
  type: z.literal("message"),
  ...head,
  message: agentMessageSchema,
});

/** Schema of `ThinkingLevelChangeEntry`. */
export const thinkingLevelChangeEntrySchema = z.looseObject({
  type: z.literal("thinking_level_change"),
  ...head,
  thinkingLevel: z.string(),
});

/** Schema of `ModelChangeEntry`. */
export const modelChangeEntrySchema = z.looseObject({
  type: z.literal("model_change"),
  ...head,
  provider: z.string(),
  modelId: z.string(),
});

/** Schema of `UsageEntry`. */
export const usageEntrySchema = z.looseObject({
  type: z.literal("usage"),
  ...head,
  kind: z.string(),
  provider: z.string(),
  model: z.string(),
  usage: usageSchema,
  note: z.string().exactOptional(),
});

/** Schema of `CompactionEntry`, whatever its details. */
export const compactionEntrySchema = z.looseObject({
  type: z.literal("compaction"),
  ...head,
  summary: z.string(),
  firstKeptEntryId: z.string(),
  tokensBefore: z.number(),
  details: z.unknown().exactOptional(),
  fromHook: z.boolean().exactOptional(),
  usage: usageSchema.exactOptional(),
  systemMessage: systemMessageSchema.exactOptional(),
  retainedTail: listOf(agentMessageSchema).exactOptional(),
});

/** Schema of `BranchSummaryEntry`, whatever its details. */
export const branchSummaryEntrySchema = z.looseObject({
  type: z.literal("branch_summary"),
  ...head,
  fromId: z.string(),
  summary: z.string(),
  details: z.unknown().exactOptional(),
  fromHook: z.boolean().exactOptional(),
  usage: usageSchema.exactOptional(),
});

/** Schema of `CustomEntry`, whatever its data. */
export const customEntrySchema = z.looseObject({
  type: z.literal("custom"),
  ...head,
  customType: z.string(),
  data: z.unknown().exactOptional(),
});

/** Schema of `CustomMessageEntry`, whatever its details. */
export const customMessageEntrySchema = z.looseObject({
  type: z.literal("custom_message"),
  ...head,
  customType: z.string(),
  content: textOrBlocksSchema,
  display: z.boolean(),
  details: z.unknown().exactOptional(),
});

/** Schema of `ContextEditableContent`. */
export const contextEditableContentSchema = z.union(
  [z.string(), textOrImageBlocksSchema, assistantBlocksSchema],
  { error: "expected a string or an array of blocks" },
);

/** Schema of `ContextEditEntry`. */
export const contextEditEntrySchema = z.looseObject({
  type: z.literal("context_edit"),
  ...head,
  targetId: z.string(),
  replacement: z.union([z.null(), z.looseObject({ content: contextEditableContentSchema })], {
    error: "expected null or an object with content",
  }),
});

/** Schema of `LabelEntry`. */
export const labelEntrySchema = z.looseObject({
  type: z.literal("label"),
  ...head,
  targetId: z.string(),
  label: orUndefined(z.string()),
});

/** Schema of `SessionInfoEntry`. */
export const sessionInfoEntrySchema = z.looseObject({
  type: z.literal("session_info"),
  ...head,
  name: z.string().exactOptional(),
});

/** Schema of `SessionEntry`: the eleven known types. */
export const sessionEntrySchema = z.discriminatedUnion("type", [
  sessionMessageEntrySchema,
  thinkingLevelChangeEntrySchema,
  modelChangeEntrySchema,
  usageEntrySchema,
  compactionEntrySchema,
  branchSummaryEntrySchema,
  customEntrySchema,
  customMessageEntrySchema,
  contextEditEntrySchema,
  labelEntrySchema,
  sessionInfoEntrySchema,
]);
