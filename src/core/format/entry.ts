import type { ImageContent, TextContent, Usage } from "./content.ts";
import type { SessionHeader } from "./header.ts";
import type {
  AgentMessage,
  AssistantMessage,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "./message.ts";

/** What every entry has: its head. */
export interface SessionEntryBase {
  type: string;
  /** Unique in the session; eight lower-case hex characters unless another program chose it. */
  id: string;
  /** The entry that this one follows; `null` for a root. */
  parentId: string | null;
  /** ISO 8601, UTC. */
  timestamp: string;
}

/** A message of the conversation. */
export interface SessionMessageEntry extends SessionEntryBase {
  type: "message";
  message: AgentMessage;
}

/** `customType` of an entry that only marks its parent as the leaf. */
export const LEAF_CUSTOM_TYPE = "sessiontree.leaf";

/** Sets the thinking level of the branch from here on. */
export interface ThinkingLevelChangeEntry extends SessionEntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

/** Sets the model of the branch from here on. */
export interface ModelChangeEntry extends SessionEntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

/** Tokens spent beside the conversation. */
export interface UsageEntry extends SessionEntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
  note?: string;
}

/** The history before `firstKeptEntryId`, as a summary. */
export interface CompactionEntry<T = unknown> extends SessionEntryBase {
  type: "compaction";
  summary: string;
  /** The first entry that stays in the context; the compaction's own id keeps nothing. */
  firstKeptEntryId: string;
  /** Size of the context before, in tokens. */
  tokensBefore: number;
  details?: T;
  /** Whether an extension wrote the summary. */
  fromHook?: boolean;
  usage?: Usage;
  /** The system message that was in force, replayed before the summary. */
  systemMessage?: SystemMessage;
  /** Another writer's form of the kept part: the messages themselves. */
  retainedTail?: AgentMessage[];
}

/** What happened on a branch that was left. */
export interface BranchSummaryEntry<T = unknown> extends SessionEntryBase {
  type: "branch_summary";
  /** The leaf that was left, or `"root"`. */
  fromId: string;
  summary: string;
  details?: T;
  /** Whether an extension wrote the summary. */
  fromHook?: boolean;
  usage?: Usage;
}

/** State of an extension; never in the context. */
export interface CustomEntry<T = unknown> extends SessionEntryBase {
  type: "custom";
  customType: string;
  data?: T;
}

/** A message of an extension, in the context. */
export interface CustomMessageEntry<T = unknown> extends SessionEntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: T;
}

/** What a context edit can put in place of a message's content. */
export type ContextEditableContent =
  | UserMessage["content"]
  | AssistantMessage["content"]
  | ToolResultMessage["content"];

/** Changes what an earlier entry of the branch contributes to the context. */
export interface ContextEditEntry extends SessionEntryBase {
  type: "context_edit";
  targetId: string;
  /** `null` removes the target's messages. */
  replacement: null | { content: ContextEditableContent };
}

/** A bookmark on an entry; absent or empty clears it. */
export interface LabelEntry extends SessionEntryBase {
  type: "label";
  targetId: string;
  label: string | undefined;
}

/** The session's display name; absent or empty clears it. */
export interface SessionInfoEntry extends SessionEntryBase {
  type: "session_info";
  name?: string;
}

/** The eleven known types. Entries of other types exist at run time: see `AnySessionEntry`. */
export type SessionEntry =
  | SessionMessageEntry
  | ThinkingLevelChangeEntry
  | ModelChangeEntry
  | UsageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | ContextEditEntry
  | LabelEntry
  | SessionInfoEntry;

/** An entry of a type that this library does not know: kept, part of the tree, contributes nothing. */
export interface UnknownEntry extends SessionEntryBase {
  [key: string]: unknown;
}

/** Whatever a session can hold. */
export type AnySessionEntry = SessionEntry | UnknownEntry;

/** A record of a session file. */
export type FileEntry = SessionHeader | SessionEntry;

const KNOWN_TYPES: ReadonlySet<string> = new Set<SessionEntry["type"]>([
  "message",
  "thinking_level_change",
  "model_change",
  "usage",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "context_edit",
  "label",
  "session_info",
]);

/** Tells whether this is one of the eleven known types. */
export function isKnownEntryType(type: string): type is SessionEntry["type"] {
  return KNOWN_TYPES.has(type);
}

/** Tells whether an entry is of one of the eleven known types. */
export function isKnownEntry(entry: AnySessionEntry): entry is SessionEntry {
  return KNOWN_TYPES.has(entry.type);
}

/**
 * Returns an entry under the type that the API promises.
 *
 * That union has pi's eleven types, so that values flow both ways between the two libraries. Entries of other types exist
 * at run time all the same; `isKnownEntry` detects them. This and `asSessionEntries` are the only places where the two
 * types are taken for one another.
 */
export function asSessionEntry(entry: AnySessionEntry): SessionEntry {
  return entry as SessionEntry;
}

/** Does the same for a list, without copying it. */
export function asSessionEntries(entries: AnySessionEntry[]): SessionEntry[] {
  return entries as SessionEntry[];
}
