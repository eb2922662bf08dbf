/**
 * sessiontree/adapters: sessions as the session interfaces of other SDKs.
 *
 * @module
 */

export {
  type AgentsHistoryMutation,
  type AgentsHistoryTransaction,
  type AgentsItem,
  OpenAIAgentsSession,
  type OpenAIAgentsSessionOptions,
} from "./adapters/openai-agents/agents-session.ts";
