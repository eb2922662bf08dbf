import { z } from "zod";
import {
  assistantBlocksSchema,
  textContentSchema,
  textOrBlocksSchema,
  textOrImageBlocksSchema,
  usageSchema,
} from "./content-schema.ts";
import { isJsonRecord } from "./json.ts";
import { jsonObjectSchema, jsonValueSchema, plainObjectSchema } from "./json-schema.ts";
import { listOf, orUndefined, recordOf } from "./list-schema.ts";
import type { ToolReference } from "./message.ts";

/** Schema of `ToolDeclaration`. */
export const toolDeclarationSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  parameters: plainObjectSchema,
});

/** Schema of `ToolReference`; a bare name, as old files have it, passes too. */
export const toolReferenceSchema = z.custom<ToolReference>(
  (value) => typeof (isJsonRecord(value) ? value["name"] : value) === "string",
  "expected an object with a name",
);

/** Schema of `SystemMessage`. */
export const systemMessageSchema = z.looseObject({
  role: z.literal("system"),
  content: z.union([z.string(), listOf(textContentSchema)], {
    error: "expected a string or an array of text blocks",
  }),
  sections: recordOf(z.union([z.string(), z.null()], { error: "expected a string or null" })).exactOptional(),
  toolsAdded: listOf(toolDeclarationSchema).exactOptional(),
  toolsRemoved: listOf(toolReferenceSchema).exactOptional(),
  details: jsonValueSchema.exactOptional(),
  timestamp: z.number(),
});

/** Schema of `UserMessage`. */
export const userMessageSchema = z.looseObject({
  role: z.literal("user"),
  content: textOrBlocksSchema,
  details: jsonValueSchema.exactOptional(),
  timestamp: z.number(),
});

/** Schema of `StopReason`. */
export const stopReasonSchema = z.enum([
  "pending",
  "stop",
  "length",
  "toolUse",
  "error",
  "aborted",
  "deferred",
]);

/** Schema of `ThinkingLevel`. */
export const thinkingLevelSchema = z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"]);

/** Schema of `AssistantMessage`. */
export const assistantMessageSchema = z.looseObject({
  role: z.literal("assistant"),
  content: assistantBlocksSchema,
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  responseModel: z.string().exactOptional(),
  responseId: z.string().exactOptional(),
  thinkingLevel: thinkingLevelSchema.exactOptional(),
  usage: usageSchema,
  stopReason: stopReasonSchema,
  rawStopReason: z.string().exactOptional(),
  errorMessage: z.string().exactOptional(),
  details: jsonValueSchema.exactOptional(),
  timestamp: z.number(),
});

/** Schema of `NestedToolCall`. */
export const nestedToolCallSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  arguments: jsonObjectSchema.exactOptional(),
  status: z.enum(["ok", "error", "unfinished"]),
});

/** Schema of `ToolResultMessage`. */
export const toolResultMessageSchema = z.looseObject({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  content: textOrImageBlocksSchema,
  details: jsonValueSchema.exactOptional(),
  isError: z.boolean(),
  usage: usageSchema.exactOptional(),
  nestedCalls: z.looseObject({ calls: listOf(nestedToolCallSchema), complete: z.boolean() }).exactOptional(),
  timestamp: z.number(),
});

/** Schema of `BashExecutionMessage`. */
export const bashExecutionMessageSchema = z.looseObject({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: orUndefined(z.number()),
  cancelled: z.boolean(),
  truncated: z.boolean(),
  fullOutputPath: z.string().exactOptional(),
  excludeFromContext: z.boolean().exactOptional(),
  timestamp: z.number(),
});

/** Schema of `CustomMessage`, whatever its details. */
export const customMessageSchema = z.looseObject({
  role: z.literal("custom"),
  customType: z.string(),
  content: textOrBlocksSchema,
  display: z.boolean(),
  details: z.unknown().exactOptional(),
  timestamp: z.number(),
});

/** Schema of `BranchSummaryMessage`. */
export const branchSummaryMessageSchema = z.looseObject({
  role: z.literal("branchSummary"),
  summary: z.string(),
  fromId: z.union([z.string(), z.null()], { error: "expected a string or null" }),
  timestamp: z.number(),
});

/** Schema of `CompactionSummaryMessage`. */
export const compactionSummaryMessageSchema = z.looseObject({
  role: z.literal("compactionSummary"),
  summary: z.string(),
  tokensBefore: z.number(),
  timestamp: z.number(),
});

/** Schema of `AgentMessage`: the eight roles that this library knows, without those that a host adds. */
export const agentMessageSchema = z.discriminatedUnion("role", [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  toolResultMessageSchema,
  bashExecutionMessageSchema,
  customMessageSchema,
  branchSummaryMessageSchema,
  compactionSummaryMessageSchema,
]);
