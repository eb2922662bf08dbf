import type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditableContent,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntryBase,
  SessionInfoEntry,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
  UnknownEntry,
  UsageEntry,
} from "./entry.ts";
import type { SessionHeader } from "./header.ts";
import {
  agentMessage,
  assistantBlocks,
  type KnownMessage,
  stringOrNull,
  systemMessage,
  textOrBlocks,
  textOrImageBlocks,
  usage,
} from "./message-shapes.ts";
import {
  anything,
  boolean,
  listOf,
  nothing,
  number,
  object,
  oneOf,
  optional,
  orUndefined,
  string,
  variants,
  words,
} from "./shape.ts";

// The one description of entries and headers beside their types.

const head = { id: string, parentId: stringOrNull, timestamp: string };

/** An entry type without the roles of messages that a host adds. */
type Known<Entry extends SessionEntryBase, Fields> = Omit<Entry, keyof Fields> & Fields;

/** Shape of `UnknownEntry`: the head, and anything. */
export const unknownEntry = object<UnknownEntry>({ type: string, ...head });

/** Shape of `SessionMessageEntry`, with the eight roles that this library knows. */
export const messageEntry = object<Known<SessionMessageEntry, { message: KnownMessage }>>({
  type: words("message"),
  ...head,
  message: agentMessage,
});

/** Shape of `ThinkingLevelChangeEntry`. */
export const thinkingLevelChangeEntry = object<ThinkingLevelChangeEntry>({
  type: words("thinking_level_change"),
  ...head,
  thinkingLevel: string,
});

/** Shape of `ModelChangeEntry`. */
export const modelChangeEntry = object<ModelChangeEntry>({
  type: words("model_change"),
  ...head,
  provider: string,
  modelId: string,
});

/** Shape of `UsageEntry`. */
export const usageEntry = object<UsageEntry>({
  type: words("usage"),
  ...head,
  kind: string,
  provider: string,
  model: string,
  usage,
  note: optional(string),
});

/** Shape of `CompactionEntry`, whatever its details. */
export const compactionEntry = object<Known<CompactionEntry, { retainedTail?: KnownMessage[] }>>({
  type: words("compaction"),
  ...head,
  summary: string,
  firstKeptEntryId: string,
  tokensBefore: number,
  details: optional(anything),
  fromHook: optional(boolean),
  usage: optional(usage),
  systemMessage: optional(systemMessage),
  retainedTail: optional(listOf(agentMessage)),
});

/** Shape of `BranchSummaryEntry`, whatever its details. */
export const branchSummaryEntry = object<BranchSummaryEntry>({
  type: words("branch_summary"),
  ...head,
  fromId: string,
  summary: string,
  details: optional(anything),
  fromHook: optional(boolean),
  usage: optional(usage),
});

/** Shape of `CustomEntry`, whatever its data. */
export const customEntry = object<CustomEntry>({
  type: words("custom"),
  ...head,
  customType: string,
  data: optional(anything),
});

/** Shape of `CustomMessageEntry`, whatever its details. */
export const customMessageEntry = object<CustomMessageEntry>({
  type: words("custom_message"),
  ...head,
  customType: string,
  content: textOrBlocks,
  display: boolean,
  details: optional(anything),
});

const editableContent = oneOf("a string or an array of blocks", string, textOrImageBlocks, assistantBlocks);

/** Shape of `ContextEditEntry`. */
export const contextEditEntry = object<ContextEditEntry>({
  type: words("context_edit"),
  ...head,
  targetId: string,
  replacement: oneOf(
    "null or an object with content",
    nothing,
    object<{ content: ContextEditableContent }>({ content: editableContent }),
  ),
});

/** Shape of `LabelEntry`. */
export const labelEntry = object<LabelEntry>({
  type: words("label"),
  ...head,
  targetId: string,
  label: orUndefined(string),
});

/** Shape of `SessionInfoEntry`. */
export const sessionInfoEntry = object<SessionInfoEntry>({
  type: words("session_info"),
  ...head,
  name: optional(string),
});

/** Shape of `SessionEntry`: the eleven known types. */
export const sessionEntry = variants(
  "type",
  messageEntry,
  thinkingLevelChangeEntry,
  modelChangeEntry,
  usageEntry,
  compactionEntry,
  branchSummaryEntry,
  customEntry,
  customMessageEntry,
  contextEditEntry,
  labelEntry,
  sessionInfoEntry,
);

/** Shape of `SessionHeader`. */
export const sessionHeader = object<SessionHeader>({
  type: words("session"),
  version: optional(number),
  id: string,
  timestamp: string,
  cwd: string,
  parentSession: optional(string),
  branchedFrom: optional(string),
  provider: optional(string),
  modelId: optional(string),
  thinkingLevel: optional(string),
  title: optional(string),
  leafId: optional(string),
});
