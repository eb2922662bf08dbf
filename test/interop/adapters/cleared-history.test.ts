import { HumanMessage } from "@langchain/core/messages";
import { SessionManager } from "sessiontree";
import { OpenAIAgentsSession } from "sessiontree/adapters";
import { SessionTreeChatHistory } from "sessiontree/langgraph";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Opens two processes' views of one session file that contains a first message. */
function shared(): { ours: SessionManager; theirs: () => SessionManager } {
  const ours = SessionManager.create("/project", { sessionDir: temporaryFolder(), createAtOnce: true });
  return { ours, theirs: () => SessionManager.open(ours.getSessionFile() ?? "") };
}

const said = (content: string) => ({ type: "message", role: "user", content }) as const;

test("neither returns nor continues OpenAI Agents items that another process cleared", async () => {
  const { ours, theirs } = shared();
  const agents = new OpenAIAgentsSession(ours);
  await agents.addItems([said("The old secret.")]);
  await new OpenAIAgentsSession(theirs()).clearSession();
  expect(await agents.getItems()).toEqual([]);
  await agents.addItems([said("A new start.")]);
  expect(await agents.getItems()).toEqual([said("A new start.")]);
  expect(await new OpenAIAgentsSession(theirs()).getItems()).toEqual([said("A new start.")]);
});

test("starts a new history for items added after another process cleared the session, without a read between", async () => {
  const { ours, theirs } = shared();
  const agents = new OpenAIAgentsSession(ours);
  await agents.addItems([said("The old secret.")]);
  await new OpenAIAgentsSession(theirs()).clearSession();
  await agents.addItems([said("A new start.")]);
  expect(await new OpenAIAgentsSession(theirs()).getItems()).toEqual([said("A new start.")]);
});

test("neither returns nor continues a chat history that another process cleared", async () => {
  const { ours, theirs } = shared();
  const chat = new SessionTreeChatHistory(ours);
  await chat.addMessage(new HumanMessage("The old secret."));
  await new SessionTreeChatHistory(theirs()).clear();
  expect(await chat.getMessages()).toEqual([]);
  await chat.addMessage(new HumanMessage("A new start."));
  const texts = async (one: SessionTreeChatHistory) => (await one.getMessages()).map(({ text }) => text);
  expect(await texts(chat)).toEqual(["A new start."]);
  expect(await texts(new SessionTreeChatHistory(theirs()))).toEqual(["A new start."]);
});
