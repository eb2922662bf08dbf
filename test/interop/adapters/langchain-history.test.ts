import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { SessionManager } from "sessiontree";
import { SessionTreeChatHistory } from "sessiontree/langgraph";
import { memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";

const CONVERSATION = [
  new SystemMessage("Be brief."),
  new HumanMessage({ id: "h1", content: "Why is the cart empty?" }),
  new AIMessage({ id: "a1", content: "", tool_calls: [{ id: "c1", name: "read", args: { path: "a" } }] }),
  new ToolMessage({ content: "none", tool_call_id: "c1", name: "read", artifact: { rows: 0 } }),
];

test("returns added messages, also after the session is reopened", async () => {
  const store = memoryStore();
  const session = store.create({ cwd: "/projects/shop" });
  const history = new SessionTreeChatHistory(session);
  await history.addMessages(CONVERSATION);
  await history.addAIMessage("It is Monday.");
  const again = new SessionTreeChatHistory(await store.open(session.getSessionId()));
  const all = [...CONVERSATION, new AIMessage("It is Monday.")];
  expect((await again.getMessages()).map((message) => message.toDict())).toEqual(
    all.map((message) => message.toDict()),
  );
  expect(await history.getMessages()).toEqual(await again.getMessages());
});

test("supports branches, edits, and messages from other sources, and is empty after clearing", async () => {
  const session = SessionManager.inMemory();
  const history = new SessionTreeChatHistory(session);
  session.appendMessage(user("Go"));
  const first = session.appendMessage(assistant("Of pi."));
  await history.addMessage(new HumanMessage({ id: "h1", content: "Secret" }));
  session.appendContextEdit(session.getLeafId() ?? "", { content: "Edited" });
  const texts = async () => (await history.getMessages()).map(({ type, content }) => [type, content]);
  expect(await texts()).toEqual([
    ["human", "Go"],
    ["ai", "Of pi."],
    ["human", "Edited"],
  ]);
  session.branch(first);
  expect(await texts()).toHaveLength(2);
  await history.clear();
  expect(await texts()).toEqual([]);
  await history.addUserMessage("Again");
  expect(await texts()).toEqual([["human", "Again"]]);
  expect(session.getLeaves()).toHaveLength(2);
});

test("refuses messages that a session cannot hold, and appends none of the batch", async () => {
  const session = SessionManager.inMemory();
  const history = new SessionTreeChatHistory(session);
  const odd = Object.assign(new HumanMessage("x"), { type: "robot" });
  await expect(history.addMessages([new HumanMessage("y"), odd])).rejects.toThrow(TypeError);
  expect(session.getEntryCount()).toBe(0);
});
