/** Key of `_meta` that names an entry of the session: in updates the one they are from, in a fork request the last one to copy. */
export const ENTRY_META = "sessiontree.entryId";

/** What a prompt, a message or a tool's output consists of. */
export type AcpContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string; uri?: string }
  | { type: "audio"; data: string; mimeType: string }
  | {
      type: "resource_link";
      name: string;
      uri: string;
      title?: string;
      description?: string;
      mimeType?: string;
    }
  | { type: "resource"; resource: AcpResource };

/** A resource that is embedded in a message. */
export type AcpResource =
  | { uri: string; text: string; mimeType?: string }
  | { uri: string; blob: string; mimeType?: string };

/** What a call of a tool shows. */
export type AcpToolContent =
  | { type: "content"; content: AcpContentBlock }
  | { type: "diff"; path: string; oldText?: string | null; newText: string }
  | { type: "terminal"; terminalId: string };

/** A file that a call of a tool concerns. */
export interface AcpLocation {
  /** Absolute. */
  path: string;
  line?: number;
}

/** What tools can do, in the protocol's words. */
export const TOOL_KINDS = [
  ...(["read", "edit", "delete", "move", "search"] as const),
  ...(["execute", "think", "fetch", "switch_mode", "other"] as const),
];

/** What a tool does, for its icon. */
export type AcpToolKind = (typeof TOOL_KINDS)[number];

/** One step of an agent's plan. */
export interface AcpPlanEntry {
  content: string;
  priority: "high" | "medium" | "low";
  status: "pending" | "in_progress" | "completed";
}

type AcpChunk = {
  content: AcpContentBlock;
  /** Id of the entry. */
  messageId: string;
};

/** An update of a session that `toAcpUpdates` makes; it is an update of the SDK's. */
export type AcpUpdate = { _meta?: { [key: string]: unknown } } & (
  | ({ sessionUpdate: "user_message_chunk" } & AcpChunk)
  | ({ sessionUpdate: "agent_message_chunk" } & AcpChunk)
  | ({ sessionUpdate: "agent_thought_chunk" } & AcpChunk)
  | AcpToolCall
  | AcpToolCallUpdate
  | { sessionUpdate: "plan"; entries: AcpPlanEntry[] }
  | { sessionUpdate: "session_info_update"; title?: string; updatedAt: string }
  | {
      sessionUpdate: "usage_update";
      used: number;
      size: number;
      cost?: { amount: number; currency: string };
    }
  | {
      sessionUpdate: "compaction_update";
      compactionId: string;
      status: "completed";
      summary: AcpContentBlock[];
    }
);

/** The beginning of a call of a tool. */
export type AcpToolCall = {
  sessionUpdate: "tool_call";
  toolCallId: string;
  title: string;
  name?: string;
  kind: AcpToolKind;
  status: "pending" | "completed" | "failed";
  content?: AcpToolContent[];
  locations?: AcpLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
};

/** The end of a call of a tool. */
export type AcpToolCallUpdate = {
  sessionUpdate: "tool_call_update";
  toolCallId: string;
  title?: string;
  kind?: AcpToolKind;
  status: "completed" | "failed";
  content: AcpToolContent[];
  locations?: AcpLocation[];
  rawOutput?: unknown;
};

/**
 * What an agent sends: an update, a notification that holds one, or the end of a turn, as `nextUpdate` of the SDK's sessions
 * returns them.
 */
export type AcpUpdateLike =
  | { readonly sessionUpdate: string; readonly [field: string]: unknown }
  | { readonly update: object; readonly [field: string]: unknown }
  | { readonly params: object; readonly [field: string]: unknown }
  | { readonly stopReason: string; readonly [field: string]: unknown };

/** A session as `session/list` shows it. */
export interface AcpSessionInfo {
  sessionId: string;
  /** Absolute. */
  cwd: string;
  title: string;
  /** ISO 8601. */
  updatedAt: string;
}

/** Key in `details` of what only the protocol has. */
export const ACP_DETAIL = "acp";
