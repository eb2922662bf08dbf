import type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "./content.ts";
import type { JsonValue } from "./json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomAgentMessages,
  CustomMessage,
  NestedToolCall,
  SystemMessage,
  ToolDeclaration,
  ToolReference,
  ToolResultMessage,
  UserMessage,
} from "./message.ts";
import {
  anything,
  arrayOf,
  boolean,
  json,
  jsonObject,
  mapOf,
  nothing,
  number,
  object,
  oneOf,
  optional,
  orOlder,
  orUndefined,
  string,
  type VariantsShape,
  variants,
  words,
} from "./shape.ts";

// The only definition of messages other than their types. Problems are reported in the order of the fields.

/** Message with a role that this library knows. */
export type KnownMessage = Exclude<AgentMessage, CustomAgentMessages[keyof CustomAgentMessages]>;

/** Shape of `TextContent`. */
export const textContent = object<TextContent>(
  { type: words("text"), text: string, textSignature: optional(string) },
  { needed: ["text"] },
);

/** Shape of `ImageContent`. */
export const imageContent = object<ImageContent>(
  { type: words("image"), data: string, mimeType: string },
  { needed: ["data"] },
);

/** Shape of `ThinkingContent`. */
export const thinkingContent = object<ThinkingContent>(
  {
    type: words("thinking"),
    thinking: string,
    thinkingSignature: optional(string),
    redacted: optional(boolean),
  },
  { needed: ["thinking"] },
);

/** Shape of `ToolCall`. */
export const toolCall = object<ToolCall>(
  {
    type: words("toolCall"),
    id: string,
    name: string,
    arguments: jsonObject(),
    thoughtSignature: optional(string),
    namespace: optional(string),
  },
  { neededKind: ["arguments"] },
);

/** Shape of `Usage`. */
export const usage = object<Usage>({
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  cacheWrite1h: optional(number),
  reasoning: optional(number),
  totalTokens: number,
  cost: object<Usage["cost"]>({
    input: number,
    output: number,
    cacheRead: number,
    cacheWrite: number,
    total: number,
    totalFromProvider: optional(boolean),
  }),
});

const BLOCKS = "an array of blocks";
const TEXT_OR_BLOCKS = "a string or an array of blocks";

/** Shape of the blocks of a user message, a tool result, or a custom message. */
export const textOrImageBlocks = arrayOf(variants("type", textContent, imageContent), BLOCKS);

/** Shape of the blocks of an assistant message. */
export const assistantBlocks = arrayOf(variants("type", textContent, thinkingContent, toolCall), BLOCKS);

/** Shape of content that is a string or an array of text and image blocks. */
export const textOrBlocks = oneOf(TEXT_OR_BLOCKS, string, textOrImageBlocks);

/** Shape of a string or null. */
export const stringOrNull = oneOf("a string or null", string, nothing);

const details = optional(json<JsonValue>());

/** Shape of `ToolDeclaration`. */
export const toolDeclaration = object<ToolDeclaration>({
  name: string,
  description: string,
  parameters: jsonObject(),
});

// Old files contain bare names.
const toolReference = orOlder("an object with a name", object<ToolReference>({ name: string }), string);

/** Shape of `SystemMessage`. */
export const systemMessage = object<SystemMessage>(
  {
    role: words("system"),
    content: oneOf("a string or an array of text blocks", string, arrayOf(textContent, BLOCKS)),
    sections: optional(mapOf(stringOrNull)),
    toolsAdded: optional(arrayOf(toolDeclaration)),
    toolsRemoved: optional(arrayOf(toolReference)),
    details,
    timestamp: number,
  },
  { needed: ["content"] },
);

const userMessage = object<UserMessage>(
  { role: words("user"), content: textOrBlocks, details, timestamp: number },
  { needed: ["content"] },
);

const assistantMessage = object<AssistantMessage>(
  {
    role: words("assistant"),
    content: assistantBlocks,
    api: string,
    provider: string,
    model: string,
    responseModel: optional(string),
    responseId: optional(string),
    thinkingLevel: optional(words("off", "minimal", "low", "medium", "high", "xhigh", "max")),
    usage,
    stopReason: words("pending", "stop", "length", "toolUse", "error", "aborted", "deferred"),
    rawStopReason: optional(string),
    errorMessage: optional(string),
    details,
    timestamp: number,
  },
  { needed: ["content"] },
);

/** Shape of `NestedToolCall`. */
export const nestedToolCall = object<NestedToolCall>({
  id: string,
  name: string,
  arguments: optional(jsonObject()),
  status: words("ok", "error", "unfinished"),
});

// Extension tools may return no content, and hosts append the result unchanged.
const toolResultMessage = object<ToolResultMessage>(
  {
    role: words("toolResult"),
    toolCallId: string,
    toolName: string,
    content: textOrImageBlocks,
    details,
    isError: boolean,
    usage: optional(usage),
    nestedCalls: optional(
      object<NonNullable<ToolResultMessage["nestedCalls"]>>({
        calls: arrayOf(nestedToolCall),
        complete: boolean,
      }),
    ),
    timestamp: number,
  },
  { needed: ["toolCallId"], neededKind: ["content"] },
);

const bashExecutionMessage = object<BashExecutionMessage>(
  {
    role: words("bashExecution"),
    command: string,
    output: string,
    exitCode: orUndefined(number),
    cancelled: boolean,
    truncated: boolean,
    fullOutputPath: optional(string),
    excludeFromContext: optional(boolean),
    timestamp: number,
  },
  { needed: ["command"] },
);

const customMessage = object<CustomMessage>(
  {
    role: words("custom"),
    customType: string,
    content: textOrBlocks,
    display: boolean,
    details: optional(anything),
    timestamp: number,
  },
  { needed: ["content"] },
);

const branchSummaryMessage = object<BranchSummaryMessage>({
  role: words("branchSummary"),
  summary: string,
  fromId: stringOrNull,
  timestamp: number,
});

const compactionSummaryMessage = object<CompactionSummaryMessage>({
  role: words("compactionSummary"),
  summary: string,
  tokensBefore: number,
  timestamp: number,
});

/** Shape of `AgentMessage`: the eight roles that this library knows, without those that a host adds. */
export const agentMessage: VariantsShape<KnownMessage> = variants(
  "role",
  systemMessage,
  userMessage,
  assistantMessage,
  toolResultMessage,
  bashExecutionMessage,
  customMessage,
  branchSummaryMessage,
  compactionSummaryMessage,
);
