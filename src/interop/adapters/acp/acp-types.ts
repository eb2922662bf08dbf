/**
 * Key in `_meta` for an entry id. In an update, it is the id of the entry that the update comes from. In a fork request, it is
 * the id of the last entry to copy.
 */
export const ENTRY_META = "sessiontree.entryId";

/** Content block of a prompt, a message, or a tool's output. */
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

/** Resource embedded in a message. */
export type AcpResource =
  | { uri: string; text: string; mimeType?: string }
  | { uri: string; blob: string; mimeType?: string };

/** Content shown for a tool call. */
export type AcpToolContent =
  | { type: "content"; content: AcpContentBlock }
  | { type: "diff"; path: string; oldText?: string | null; newText: string }
  | { type: "terminal"; terminalId: string };

/** File that a tool call affects. */
export interface AcpLocation {
  /** Absolute path. */
  path: string;
  line?: number;
}

/** Tool kinds defined by the protocol. */
export const TOOL_KINDS = [
  ...(["read", "edit", "delete", "move", "search"] as const),
  ...(["execute", "think", "fetch", "switch_mode", "other"] as const),
];

/** Tool kind, which determines the icon. */
export type AcpToolKind = (typeof TOOL_KINDS)[number];

/** Step of an agent's plan. */
export interface AcpPlanEntry {
  content: string;
  priority: "high" | "medium" | "low";
  status: "pending" | "in_progress" | "completed";
}

type AcpChunk = {
  content: AcpContentBlock;
  /** Id of the entry that the chunk comes from. */
  messageId: string;
};

/** Session update created by `toAcpUpdates`. It is assignable to the SDK's type. */
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

/** Start of a tool call. */
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

/** End of a tool call. */
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
 * Message from an agent: an update, a notification that contains an update, or the end of a turn, as returned by the `nextUpdate`
 * method of the SDK's sessions.
 */
export type AcpUpdateLike =
  | { readonly sessionUpdate: string; readonly [field: string]: unknown }
  | { readonly update: object; readonly [field: string]: unknown }
  | { readonly params: object; readonly [field: string]: unknown }
  | { readonly stopReason: string; readonly [field: string]: unknown };

/** A session in the result of `session/list`. */
export interface AcpSessionInfo {
  sessionId: string;
  /** Absolute path. */
  cwd: string;
  title: string;
  /** ISO 8601. */
  updatedAt: string;
}

/** Key in `details` for data that exists only in the protocol. */
export const ACP_DETAIL = "acp";
