import type { ImageContent, TextContent, Usage } from "./content.ts";
import type { SessionHeader } from "./header.ts";
import { isJsonRecord } from "./json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "./message.ts";

/** Head of an entry: the fields that every entry has. */
export interface SessionEntryBase {
  type: string;
  /** Unique in the session; eight lower-case hex characters unless another program chose the id. */
  id: string;
  /** Id of the previous entry on the path; `null` for a root. */
  parentId: string | null;
  /** ISO 8601, UTC. */
  timestamp: string;
}

/** Message of the conversation. */
export interface SessionMessageEntry extends SessionEntryBase {
  type: "message";
  message: AgentMessage;
}

/** `customType` of an entry that only marks its parent as the leaf. */
export const LEAF_CUSTOM_TYPE = "sessiontree.leaf";

/** Sets the thinking level for the rest of the branch. */
export interface ThinkingLevelChangeEntry extends SessionEntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

/** Sets the model for the rest of the branch. */
export interface ModelChangeEntry extends SessionEntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

/** Tokens used outside the conversation. */
export interface UsageEntry extends SessionEntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
  note?: string;
}

/** Compaction: a summary of the history before `firstKeptEntryId`. */
export interface CompactionEntry<T = unknown> extends SessionEntryBase {
  type: "compaction";
  summary: string;
  /** Id of the first entry that stays in the context. The compaction's own id means that no entries are kept. */
  firstKeptEntryId: string;
  /** Size of the context before the compaction, in tokens. */
  tokensBefore: number;
  details?: T;
  /** Whether an extension wrote the summary. */
  fromHook?: boolean;
  usage?: Usage;
  /** System message in effect, which is replayed before the summary. */
  systemMessage?: SystemMessage;
  /** The kept messages themselves. Written by some other programs. */
  retainedTail?: AgentMessage[];
}

/** Summary of an abandoned branch. */
export interface BranchSummaryEntry<T = unknown> extends SessionEntryBase {
  type: "branch_summary";
  /** Id of the abandoned leaf, or `"root"`. */
  fromId: string;
  summary: string;
  details?: T;
  /** Whether an extension wrote the summary. */
  fromHook?: boolean;
  usage?: Usage;
}

/** An extension's state. Never part of the context. */
export interface CustomEntry<T = unknown> extends SessionEntryBase {
  type: "custom";
  customType: string;
  data?: T;
}

/** An extension's message. Part of the context. */
export interface CustomMessageEntry<T = unknown> extends SessionEntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: T;
}

/** Content that a context edit can substitute for a message's content. */
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

/** Bookmark on an entry. An absent or empty label clears the bookmark. */
export interface LabelEntry extends SessionEntryBase {
  type: "label";
  targetId: string;
  label: string | undefined;
}

/** Display name of the session. An absent or empty name clears it. */
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

/** Entry of a type that this library does not know. It is kept in the tree but contributes nothing to the context. */
export interface UnknownEntry extends SessionEntryBase {
  [key: string]: unknown;
}

/** Any entry of a session. */
export type AnySessionEntry = SessionEntry | UnknownEntry;

/** Record of a session file. */
export type FileEntry = SessionHeader | SessionEntry;

/** The eleven known types, the most frequent type first. */
export const KNOWN_ENTRY_TYPES: readonly SessionEntry["type"][] = [
  "message",
  "custom_message",
  "custom",
  "compaction",
  "model_change",
  "thinking_level_change",
  "label",
  "branch_summary",
  "session_info",
  "usage",
  "context_edit",
];

const KNOWN_TYPES: ReadonlySet<string> = new Set(KNOWN_ENTRY_TYPES);

/** Returns whether a type is one of the eleven known types. */
export function isKnownEntryType(type: string): type is SessionEntry["type"] {
  return KNOWN_TYPES.has(type);
}

/** Returns whether an entry has one of the eleven known types. */
export function isKnownEntry(entry: AnySessionEntry): entry is SessionEntry {
  return isJsonRecord(entry) && KNOWN_TYPES.has(entry.type);
}

/**
 * Casts an entry to the type that the API declares.
 *
 * The declared union has pi's eleven types, so that values can be exchanged between the two libraries. Entries of other types
 * still exist at run time; use `isKnownEntry` to detect them. Only this function and `asSessionEntries` convert between the two
 * types.
 */
export function asSessionEntry(entry: AnySessionEntry): SessionEntry {
  return entry as SessionEntry;
}

/** Casts an array of entries to the type that the API declares, without copying it. */
export function asSessionEntries(entries: AnySessionEntry[]): SessionEntry[] {
  return entries as SessionEntry[];
}
