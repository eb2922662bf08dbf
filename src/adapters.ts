/**
 * sessiontree/adapters: adapters from sessions to the session interfaces of other SDKs.
 *
 * @module
 */

export {
  type AcpForkRequest,
  type AcpListRequest,
  type AcpSessionPage,
  acpSessions,
} from "./interop/adapters/acp/acp-sessions.ts";
export type { AcpUpdate } from "./interop/adapters/acp/acp-types.ts";
export { fromAcpPrompt } from "./interop/adapters/acp/content-blocks.ts";
export {
  AcpRecorder,
  type ConvertedAcpUpdates,
  fromAcpUpdates,
} from "./interop/adapters/acp/from-acp-updates.ts";
export { type AcpReplayOptions, toAcpUpdates } from "./interop/adapters/acp/to-acp-updates.ts";
export { loadChat, type SaveChatOptions, type SavedChat, saveChat } from "./interop/adapters/ai-sdk/chat.ts";
export { chatVersions } from "./interop/adapters/ai-sdk/chat-versions.ts";
export { receiveChat } from "./interop/adapters/ai-sdk/receive-chat.ts";
export {
  type ClaudeSessionStore,
  type ClaudeSessionStoreOptions,
  claudeSessionStore,
  type SummarizingClaudeSessionStore,
} from "./interop/adapters/claude-agent/claude-session-store.ts";
export type { ClaudeSessionKey } from "./interop/adapters/claude-agent/project-index.ts";
export type { ClaudeRecord } from "./interop/adapters/claude-agent/record-log.ts";
export {
  OpenAIAgentsSession,
  type OpenAIAgentsSessionOptions,
} from "./interop/adapters/openai-agents/agents-session.ts";
