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
  arrayOf,
  boolean,
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

// The only definition of entries and headers other than their types.

const head = { id: string, parentId: stringOrNull, timestamp: string };

/** Entry type without the message roles that a host adds. */
type Known<Entry extends SessionEntryBase, Fields> = Omit<Entry, keyof Fields> & Fields;

/** Shape of `UnknownEntry`: the head and any other fields. */
export const unknownEntry = object<UnknownEntry>({ type: string, ...head });

const messageEntry = object<Known<SessionMessageEntry, { message: KnownMessage }>>({
  type: words("message"),
  ...head,
  message: agentMessage,
});

const thinkingLevelChangeEntry = object<ThinkingLevelChangeEntry>({
  type: words("thinking_level_change"),
  ...head,
  thinkingLevel: string,
});

const modelChangeEntry = object<ModelChangeEntry>({
  type: words("model_change"),
  ...head,
  provider: string,
  modelId: string,
});

const usageEntry = object<UsageEntry>({
  type: words("usage"),
  ...head,
  kind: string,
  provider: string,
  model: string,
  usage,
  note: optional(string),
});

const compactionEntry = object<Known<CompactionEntry, { retainedTail?: KnownMessage[] }>>({
  type: words("compaction"),
  ...head,
  summary: string,
  firstKeptEntryId: string,
  tokensBefore: number,
  details: optional(anything),
  fromHook: optional(boolean),
  usage: optional(usage),
  systemMessage: optional(systemMessage),
  retainedTail: optional(arrayOf(agentMessage)),
});

const branchSummaryEntry = object<BranchSummaryEntry>({
  type: words("branch_summary"),
  ...head,
  fromId: string,
  summary: string,
  details: optional(anything),
  fromHook: optional(boolean),
  usage: optional(usage),
});

const customEntry = object<CustomEntry>({
  type: words("custom"),
  ...head,
  customType: string,
  data: optional(anything),
});

const customMessageEntry = object<CustomMessageEntry>({
  type: words("custom_message"),
  ...head,
  customType: string,
  content: textOrBlocks,
  display: boolean,
  details: optional(anything),
});

const editableContent = oneOf("a string or an array of blocks", string, textOrImageBlocks, assistantBlocks);

const contextEditEntry = object<ContextEditEntry>({
  type: words("context_edit"),
  ...head,
  targetId: string,
  replacement: oneOf(
    "null or an object with content",
    nothing,
    object<{ content: ContextEditableContent }>({ content: editableContent }),
  ),
});

const labelEntry = object<LabelEntry>({
  type: words("label"),
  ...head,
  targetId: string,
  label: orUndefined(string),
});

const sessionInfoEntry = object<SessionInfoEntry>({
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
