/**
 * sessiontree/langgraph: threads of LangGraph.js and chat histories of LangChain.js as sessions. Needs the package
 * `@langchain/langgraph-checkpoint`.
 *
 * @module
 */

export { SessionTreeChatHistory } from "./interop/adapters/langgraph/session-tree-chat-history.ts";
export {
  SessionTreeSaver,
  type SessionTreeSaverOptions,
} from "./interop/adapters/langgraph/session-tree-saver.ts";
