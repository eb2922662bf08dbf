import type * as content from "../../../../src/core/format/content.ts";
import type * as entry from "../../../../src/core/format/entry.ts";
import * as entries from "../../../../src/core/format/entry-shapes.ts";
import type { SessionHeader } from "../../../../src/core/format/header.ts";
import type * as message from "../../../../src/core/format/message.ts";
import * as messages from "../../../../src/core/format/message-shapes.ts";
import type { AnyObjectShape, AnyVariants } from "../../../../src/core/format/shape.ts";

/** Value with every field of its interface, its schema, and its optional fields. */
export interface Sample {
  readonly name: string;
  readonly shape: AnyObjectShape;
  readonly value: { readonly [key: string]: unknown };
  readonly optional: readonly string[];
}

const text: Required<content.TextContent> = { type: "text", text: "hi", textSignature: "s" };
const image: Required<content.ImageContent> = { type: "image", data: "aGk=", mimeType: "image/png" };
const thinking: Required<content.ThinkingContent> = {
  type: "thinking",
  thinking: "hm",
  thinkingSignature: "s",
  redacted: false,
};
const toolCall: Required<content.ToolCall> = {
  type: "toolCall",
  id: "call_1",
  name: "read",
  arguments: { path: "/a", limits: [1, null, { deep: true }] },
  thoughtSignature: "s",
  namespace: "files",
};
const usage: Required<content.Usage> = {
  input: 1,
  output: 2,
  cacheRead: 3,
  cacheWrite: 4,
  cacheWrite1h: 1,
  reasoning: 1,
  totalTokens: 10,
  cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3, totalFromProvider: true },
};
const declaration: Required<message.ToolDeclaration> = {
  name: "read",
  description: "Reads a file.",
  parameters: { type: "object" },
};
const system: Required<message.SystemMessage> = {
  role: "system",
  content: [text],
  sections: { rules: "Be kind.", old: null },
  toolsAdded: [declaration],
  toolsRemoved: [{ name: "write" }],
  details: { anywhere: [1] },
  timestamp: 1,
};
const user: Required<message.UserMessage> = {
  role: "user",
  content: [text, image],
  details: null,
  timestamp: 1,
};
const assistant: Required<message.AssistantMessage> = {
  role: "assistant",
  content: [thinking, text, toolCall],
  api: "messages",
  provider: "acme",
  model: "m-1",
  responseModel: "m-1b",
  responseId: "r1",
  thinkingLevel: "high",
  usage,
  stopReason: "toolUse",
  rawStopReason: "tool_use",
  errorMessage: "",
  details: { anywhere: [1] },
  timestamp: 1,
};
const nestedCall: Required<message.NestedToolCall> = {
  id: "n1",
  name: "read",
  arguments: { path: "/a" },
  status: "ok",
};
const toolResult: Required<message.ToolResultMessage> = {
  role: "toolResult",
  toolCallId: "call_1",
  toolName: "read",
  content: [text, image],
  details: { lines: [1, 2] },
  isError: false,
  usage,
  nestedCalls: { calls: [nestedCall], complete: true },
  timestamp: 1,
};
const bash: Required<message.BashExecutionMessage> = {
  role: "bashExecution",
  command: "ls",
  output: "a",
  exitCode: 0,
  cancelled: false,
  truncated: true,
  fullOutputPath: "/tmp/out",
  excludeFromContext: true,
  timestamp: 1,
};
const custom: Required<message.CustomMessage> = {
  role: "custom",
  customType: "todo",
  content: "text",
  display: true,
  details: [1],
  timestamp: 1,
};
const branchSummary: Required<message.BranchSummaryMessage> = {
  role: "branchSummary",
  summary: "s",
  fromId: null,
  timestamp: 1,
};
const compactionSummary: Required<message.CompactionSummaryMessage> = {
  role: "compactionSummary",
  summary: "s",
  tokensBefore: 9,
  timestamp: 1,
};

const head = { id: "0a1b2c3d", parentId: null, timestamp: "2026-02-03T22:52:06.410Z" };
const messageEntry: Required<entry.SessionMessageEntry> = { type: "message", ...head, message: user };
const levelEntry: Required<entry.ThinkingLevelChangeEntry> = {
  type: "thinking_level_change",
  ...head,
  thinkingLevel: "high",
};
const modelEntry: Required<entry.ModelChangeEntry> = {
  type: "model_change",
  ...head,
  provider: "acme",
  modelId: "m",
};
const usageEntry: Required<entry.UsageEntry> = {
  type: "usage",
  ...head,
  kind: "title",
  provider: "acme",
  model: "m",
  usage,
  note: "n",
};
const compactionEntry: Required<entry.CompactionEntry> = {
  type: "compaction",
  ...head,
  summary: "s",
  firstKeptEntryId: "0a1b2c3d",
  tokensBefore: 9,
  details: { readFiles: [] },
  fromHook: true,
  usage,
  systemMessage: system,
  retainedTail: [user, assistant],
};
const branchEntry: Required<entry.BranchSummaryEntry> = {
  type: "branch_summary",
  ...head,
  fromId: "root",
  summary: "s",
  details: {},
  fromHook: false,
  usage,
};
const customEntry: Required<entry.CustomEntry> = {
  type: "custom",
  ...head,
  customType: "todo",
  data: { n: 1 },
};
const customMessageEntry: Required<entry.CustomMessageEntry> = {
  type: "custom_message",
  ...head,
  customType: "todo",
  content: [text],
  display: false,
  details: null,
};
const editEntry: Required<entry.ContextEditEntry> = {
  type: "context_edit",
  ...head,
  targetId: "0a1b2c3d",
  replacement: { content: [thinking, toolCall] },
};
const labelEntry: Required<entry.LabelEntry> = {
  type: "label",
  ...head,
  targetId: "0a1b2c3d",
  label: "here",
};
const infoEntry: Required<entry.SessionInfoEntry> = { type: "session_info", ...head, name: "n" };
const header: Required<SessionHeader> = {
  type: "session",
  version: 3,
  id: "s-1",
  timestamp: head.timestamp,
  cwd: "/work",
  parentSession: "/a.jsonl",
  branchedFrom: "/b.jsonl",
  provider: "acme",
  modelId: "m",
  thinkingLevel: "off",
  leafId: "0a1b2c3d",
  title: "The till",
};

function findShape({ byTag }: AnyVariants, tag: string): AnyObjectShape {
  const shape = byTag.get(tag);
  if (shape === undefined) throw new Error(`No shape has the tag ${tag}.`);
  return shape;
}

function sample(
  name: string,
  shape: AnyObjectShape,
  value: object,
  optional: readonly string[] = [],
): Sample {
  return { name, shape, value: { ...value }, optional };
}

/** Messages of every role, complete. */
export const MESSAGE_SAMPLES: readonly Sample[] = [
  sample("system", findShape(messages.agentMessage, "system"), system, [
    "sections",
    "toolsAdded",
    "toolsRemoved",
    "details",
  ]),
  sample("user", findShape(messages.agentMessage, "user"), user, ["details"]),
  sample("assistant", findShape(messages.agentMessage, "assistant"), assistant, [
    "responseModel",
    "responseId",
    "thinkingLevel",
    "rawStopReason",
    "errorMessage",
    "details",
  ]),
  sample("toolResult", findShape(messages.agentMessage, "toolResult"), toolResult, [
    "details",
    "usage",
    "nestedCalls",
  ]),
  sample("bashExecution", findShape(messages.agentMessage, "bashExecution"), bash, [
    "exitCode",
    "fullOutputPath",
    "excludeFromContext",
  ]),
  sample("custom", findShape(messages.agentMessage, "custom"), custom, ["details"]),
  sample("branchSummary", findShape(messages.agentMessage, "branchSummary"), branchSummary),
  sample("compactionSummary", findShape(messages.agentMessage, "compactionSummary"), compactionSummary),
];

/** Entries of every type, complete. */
export const ENTRY_SAMPLES: readonly Sample[] = [
  sample("message", findShape(entries.sessionEntry, "message"), messageEntry),
  sample("thinking_level_change", findShape(entries.sessionEntry, "thinking_level_change"), levelEntry),
  sample("model_change", findShape(entries.sessionEntry, "model_change"), modelEntry),
  sample("usage", findShape(entries.sessionEntry, "usage"), usageEntry, ["note"]),
  sample("compaction", findShape(entries.sessionEntry, "compaction"), compactionEntry, [
    "details",
    "fromHook",
    "usage",
    "systemMessage",
    "retainedTail",
  ]),
  sample("branch_summary", findShape(entries.sessionEntry, "branch_summary"), branchEntry, [
    "details",
    "fromHook",
    "usage",
  ]),
  sample("custom", findShape(entries.sessionEntry, "custom"), customEntry, ["data"]),
  sample("custom_message", findShape(entries.sessionEntry, "custom_message"), customMessageEntry, [
    "details",
  ]),
  sample("context_edit", findShape(entries.sessionEntry, "context_edit"), editEntry),
  sample("label", findShape(entries.sessionEntry, "label"), labelEntry, ["label"]),
  sample("session_info", findShape(entries.sessionEntry, "session_info"), infoEntry, ["name"]),
];

/** Complete header. */
export const HEADER_SAMPLE: Sample = sample("header", entries.sessionHeader, header, [
  "version",
  "parentSession",
  "branchedFrom",
  "provider",
  "modelId",
  "thinkingLevel",
  "leafId",
  "title",
]);

/** Content blocks, usage, and other parts of messages, complete. */
export const PART_SAMPLES: readonly Sample[] = [
  sample("text", messages.textContent, text, ["textSignature"]),
  sample("image", messages.imageContent, image),
  sample("thinking", messages.thinkingContent, thinking, ["thinkingSignature", "redacted"]),
  sample("toolCall", messages.toolCall, toolCall, ["thoughtSignature", "namespace"]),
  sample("usage", messages.usage, usage, ["cacheWrite1h", "reasoning"]),
  sample("tool declaration", messages.toolDeclaration, declaration),
  sample("nested tool call", messages.nestedToolCall, nestedCall, ["arguments"]),
];
