import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  messagesStateReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { SessionTreeSaver } from "sessiontree/langgraph";
import type { SessionStore } from "sessiontree/stores";
import { z } from "zod";

const usage_metadata = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** Returns a model's answer with its id, tokens, and model. */
export function answer(
  id: string,
  content: string,
  calls: { id: string; name: string; args: object }[] = [],
): AIMessage {
  const response_metadata = { model_provider: "openai", model_name: "gpt-x", finish_reason: "stop" };
  return new AIMessage(
    JSON.parse(JSON.stringify({ id, content, tool_calls: calls, usage_metadata, response_metadata })),
  );
}

/** Returns the text of each message. */
export const texts = (messages: readonly BaseMessage[]) => messages.map(({ content }) => content);

/**
 * Creates a clerk that reads a file, requests a person's approval for it, calls its own assistant, and answers.
 *
 * @param readFile - Returns the text of a file, which the tool returns.
 */
export function clerk(
  store: SessionStore,
  readFile = (path: string): string | Promise<string> => `text of ${path}`,
) {
  const read = tool(({ path }) => readFile(path), {
    name: "read",
    description: "Reads a file.",
    schema: z.object({ path: z.string() }),
  });
  const helper = new StateGraph(MessagesAnnotation)
    .addNode("think", ({ messages }) => ({
      messages: [answer(`helper-${messages.length}`, "It is about carts.")],
    }))
    .addEdge(START, "think")
    .addEdge("think", END)
    .compile();
  const State = Annotation.Root({
    messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
    approved: Annotation<string>(),
  });
  return new StateGraph(State)
    .addNode("ask", ({ messages }) => ({
      messages: [
        answer(`ask-${messages.length}`, "", [
          { id: `c${messages.length}`, name: "read", args: { path: "a" } },
        ]),
      ],
    }))
    .addNode("tools", new ToolNode([read]))
    .addNode("approve", () => ({ approved: String(interrupt("May I?")) }))
    .addNode("helper", helper)
    .addNode("end", ({ messages, approved }) => ({
      messages: [answer(`end-${messages.length}`, `Done: ${approved}`)],
    }))
    .addEdge(START, "ask")
    .addEdge("ask", "tools")
    .addEdge("tools", "approve")
    .addEdge("approve", "helper")
    .addEdge("helper", "end")
    .addEdge("end", END)
    .compile({ checkpointer: new SessionTreeSaver(store) });
}

/** Thread of the clerk whose run continues in other processes. */
export const CART = { configurable: { thread_id: "cart/17" } };

/** Returns the states of a thread as plain JSON, the latest first: values with all messages, tasks, times, and addresses. */
export async function readStates(graph: ReturnType<typeof clerk>): Promise<unknown[]> {
  const states = [];
  for await (const state of graph.getStateHistory(CART)) states.push(state);
  const copy: unknown[] = JSON.parse(JSON.stringify(states));
  return copy;
}
