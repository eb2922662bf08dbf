/**
 * sessiontree/adapters: sessions as the session interfaces of other SDKs.
 *
 * @module
 */

export {
  type AcpForkRequest,
  type AcpListRequest,
  type AcpSessionPage,
  deleteAcpSession,
  forkAcpSession,
  listAcpSessions,
  newAcpSession,
} from "./adapters/acp/acp-sessions.ts";
export type {
  AcpContentBlock,
  AcpSessionInfo,
  AcpToolContent,
  AcpUpdate,
  AcpUpdateLike,
} from "./adapters/acp/acp-types.ts";
export { fromAcpPrompt } from "./adapters/acp/from-acp-prompt.ts";
export { AcpRecorder, type ConvertedAcpUpdates, fromAcpUpdates } from "./adapters/acp/from-acp-updates.ts";
export { type AcpReplayOptions, toAcpUpdates } from "./adapters/acp/to-acp-updates.ts";
export { loadChat, type SaveChatOptions, type SavedChat, saveChat } from "./adapters/ai-sdk/chat.ts";
export {
  type ClaudeSessionStore,
  type ClaudeSessionStoreOptions,
  type ClaudeSessionSummary,
  claudeSessionStore,
  type FoldSessionSummary,
  type SummarizingClaudeSessionStore,
} from "./adapters/claude-agent/claude-session-store.ts";
export type { ClaudeRecord } from "./adapters/claude-agent/record-log.ts";
export type { ClaudeSessionKey } from "./adapters/claude-agent/transcript-key.ts";
export {
  type AgentsHistoryMutation,
  type AgentsHistoryTransaction,
  type AgentsItem,
  OpenAIAgentsSession,
  type OpenAIAgentsSessionOptions,
} from "./adapters/openai-agents/agents-session.ts";
