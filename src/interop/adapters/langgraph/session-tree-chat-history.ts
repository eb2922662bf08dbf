import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { type BaseMessage, mapStoredMessagesToChatMessages } from "@langchain/core/messages";
import { convertToLlm } from "../../../core/context/convert-to-llm.ts";
import { LEAF_CUSTOM_TYPE } from "../../../core/format/entry.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { fromLangChain } from "../../convert/langchain/from-langchain.ts";
import { writeMessages } from "../../convert/langchain/to-langchain.ts";
import { followClears } from "../cleared-history.ts";

/**
 * LangChain chat message history on top of a session: the active branch, with compactions and context edits applied.
 *
 * Messages are returned exactly as they were added. Do not use one session for two conversations, because each would move the
 * other's leaf.
 *
 * @remarks Source: docs/langgraph.md#chat-message-history
 */
export class SessionTreeChatHistory extends BaseListChatMessageHistory {
  lc_namespace = ["sessiontree", "langgraph"];
  readonly #session: SessionManager;
  /** Reads entries written by other processes. */
  readonly #update: () => Promise<void>;

  constructor(session: SessionManager) {
    super();
    this.#session = session;
    this.#update = followClears(session, LEAF_CUSTOM_TYPE);
  }

  /** Returns new instances of the messages, including messages from other sources. */
  async getMessages(): Promise<BaseMessage[]> {
    await this.#update();
    const { messages } = this.#session.buildSessionContext();
    return mapStoredMessagesToChatMessages(writeMessages(convertToLlm(messages)));
  }

  /**
   * Appends a message.
   *
   * @throws {TypeError} If a session cannot store the message, for example because it is an instance of a custom class.
   * @throws {SessionError} `WRITE_FAILED`, or `SESSION_NOT_FOUND` if the session was deleted.
   */
  async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /** Appends all messages or none in a single write, and waits until they are durable. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const { messages: said } = fromLangChain(messages, { timestamp: Date.now() });
    await this.#update();
    const drafts = said.map((message) => ({ type: "message" as const, message }));
    this.#session.appendAll(drafts, { mustExist: true });
    await this.#session.flush();
  }

  /**
   * Moves the leaf to the position before the first entry. The history is then empty, but the messages remain on their branch.
   */
  override async clear(): Promise<void> {
    await this.#update();
    const mark = { type: "custom" as const, customType: LEAF_CUSTOM_TYPE };
    this.#session.append(mark, { parentId: null, mustExist: true });
    await this.#session.flush();
  }
}
