import { existsSync, rmSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { SessionManager } from "sessiontree";
import { AcpRecorder, OpenAIAgentsSession, saveChat } from "sessiontree/adapters";
import { SessionTreeChatHistory, SessionTreeSaver } from "sessiontree/langgraph";
import { fileStore, remoteStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDeletion } from "./support/deletion.ts";

testDeletion("files", () => {
  const sessionDir = temporaryFolder();
  const open = () => fileStore({ sessionDir, deletesForGood: true });
  return { ours: open(), theirs: open() };
});

testDeletion("memory", () => {
  const backend = new MemoryBackend();
  return { ours: remoteStore(backend), theirs: remoteStore(backend) };
});

/** Adapters of a session that the host holds open, each appending one message. */
const HELD: readonly [adapter: string, append: (session: SessionManager) => Promise<unknown>][] = [
  [
    "OpenAI Agents",
    (session) => new OpenAIAgentsSession(session).addItems([{ role: "user", content: "Hi" }]),
  ],
  ["chat history", (session) => new SessionTreeChatHistory(session).addMessage(new HumanMessage("Hi"))],
  [
    "chat",
    (session) => saveChat(session, [{ id: "1", role: "user", parts: [{ type: "text", text: "Hi" }] }]),
  ],
  [
    "ACP",
    async (session) => {
      const recorder = new AcpRecorder(session);
      await recorder.add({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Hi" } });
      await recorder.end();
    },
  ],
];

test.each(HELD)("%s does not recreate a deleted session", async (_adapter, append) => {
  const session = SessionManager.create("/project", { sessionDir: temporaryFolder(), createAtOnce: true });
  const path = session.getSessionFile() ?? "";
  rmSync(path);
  await expect(append(session)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect(existsSync(path)).toBe(false);
});

test("a thread of LangGraph that is deleted between opening and reading it does not exist", async () => {
  const store = fileStore({ sessionDir: temporaryFolder() });
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const saver = new SessionTreeSaver(store);
  // Too large to be kept from opening the file.
  const values = { a: "x".repeat(20_000_000) };
  const checkpoint = { ...emptyCheckpoint(), channel_values: values, channel_versions: { a: 1 } };
  await saver.put(config, checkpoint, { source: "input", step: -1, parents: {} }, { a: 1 });
  const deletes = new Proxy(store, {
    get: (target, name) =>
      name === "open"
        ? async (...args: Parameters<typeof store.open>) => {
            const session = await target.open(...args);
            rmSync(session.getSessionFile() ?? "");
            return session;
          }
        : Reflect.get(target, name, target),
  });
  expect(await new SessionTreeSaver(deletes).getTuple(config)).toBeUndefined();
});
