/**
 * sessiontree/langgraph: LangGraph.js threads and LangChain.js chat histories as sessions. Requires the
 * `@langchain/langgraph-checkpoint` package.
 *
 * @module
 */

export { SessionTreeChatHistory } from "./interop/adapters/langgraph/session-tree-chat-history.ts";
export {
  SessionTreeSaver,
  type SessionTreeSaverOptions,
} from "./interop/adapters/langgraph/session-tree-saver.ts";
