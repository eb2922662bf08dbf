import { foldSystemMessages, SessionManager } from "sessiontree";
import {
  appendConversation,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, test } from "vitest";
import { joinSystemText } from "../../../src/core/context/system-message.ts";
import { assistant, usage, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const system = (content: string, more: object = {}) =>
  ({ role: "system", content, timestamp: 1, ...more }) as const;

/** Returns the current instructions. */
function instructions(session: SessionManager): string {
  const { messages } = session.buildSessionContext();
  return joinSystemText(messages.flatMap((one) => (one.role === "system" ? one : [])));
}

/** Returns the instructions that each converter puts before the request. */
function inFront(session: SessionManager): unknown[] {
  const { messages } = session.buildSessionContext();
  return [
    toAnthropic(messages).system,
    toGemini(messages).systemInstruction?.parts?.[0]?.text,
    toOpenAIResponses(messages).instructions,
    toOpenAIChat(messages).messages[0]?.content,
    toModelMessages(messages, { sdk: 7 }).instructions,
  ];
}

describe("setInstructions", () => {
  test("sets the instructions of a new session", () => {
    const session = SessionManager.inMemory();
    const { entryId } = session.setInstructions("Be brief.");
    expect(session.getLeafId()).toBe(entryId);
    expect(instructions(session)).toBe("Be brief.");
  });

  test("replaces them without a branch; the old ones stay in the tree", () => {
    const session = SessionManager.inMemory();
    const old = session.appendMessage(system("Be brief."));
    session.appendMessage(user("Hi"));
    session.appendMessage(assistant("Hello."));
    session.setInstructions("Be thorough.");
    session.appendMessage(user("Why?"));
    expect(inFront(session)).toEqual(Array(5).fill("Be thorough."));
    expect(toAnthropic(session.buildSessionContext().messages).messages).toHaveLength(3);
    expect(session.getLeaves()).toHaveLength(1);
    expect(session.getEntry(old)).toMatchObject({ message: { content: "Be brief." } });
  });

  test("applies only the last call, and appends nothing if the instructions are unchanged", () => {
    const session = SessionManager.inMemory();
    for (const text of ["A", "B", "C"]) session.setInstructions(text);
    const count = session.getEntryCount();
    expect(session.setInstructions("C")).toEqual({ voidThinkingIds: [], uncachedTokens: 0 });
    expect(session.getEntryCount()).toBe(count);
    expect(instructions(session)).toBe("C");
  });

  test("keeps tools and named sections", () => {
    const session = SessionManager.inMemory();
    const tool = { name: "read", description: "Reads.", parameters: {} };
    session.appendMessage(system("A", { sections: { memory: "The user is Ada." }, toolsAdded: [tool] }));
    session.appendMessage(system("", { sections: { date: "Monday" }, toolsRemoved: [{ name: "write" }] }));
    session.setInstructions("B");
    const { messages } = session.buildSessionContext();
    expect(foldSystemMessages(messages, 0)).toMatchObject({
      content: "",
      sections: { memory: "The user is Ada.", date: "Monday", instructions: "B" },
      toolsAdded: [tool],
    });
  });

  test.each(["kept", "nothing kept"])("replaces those that a compaction replays (%s)", (kept) => {
    const session = SessionManager.inMemory();
    session.appendMessage(system("A"));
    session.appendMessage(user("One"));
    const two = session.appendMessage(user("Two"));
    session.appendCompaction("One was said.", kept === "kept" ? two : null, 10, { some: "details" });
    session.appendMessage(user("Three"));
    const before = session.buildSessionContext().messages.filter(({ role }) => role !== "system");
    session.setInstructions("B");
    const after = session.buildSessionContext().messages;
    expect(after.filter(({ role }) => role !== "system")).toMatchObject(
      before.map(({ timestamp: _, ...rest }) => rest),
    );
    expect(instructions(session)).toBe("B");
    session.appendMessage(user("Four"));
    session.appendCompaction("More was said.", null, 10);
    session.setInstructions("C");
    expect(instructions(session)).toBe("C");
    expect(session.buildSessionContext().messages).toMatchObject([
      { role: "system" },
      { role: "compactionSummary", summary: "More was said." },
      { role: "system" },
    ]);
  });

  test.each(["A", "B"])(
    "recognizes those that were appended with a conversation, and vice versa (%s)",
    (first) => {
      const session = SessionManager.inMemory();
      const conversation = (text: string) => [system(text), user("Hi")];
      appendConversation(session, conversation(first));
      session.setInstructions("B");
      expect(instructions(session)).toBe("B");
      expect(session.getEntryCount()).toBe(first === "A" ? 3 : 2);
      appendConversation(session, conversation("C"));
      expect(instructions(session)).toBe("C");
      expect(session.getLeaves()).toHaveLength(1);
    },
  );

  test("keeps those that an earlier version stored as content", () => {
    const session = SessionManager.inMemory();
    session.appendMessage(system("A"));
    expect(session.setInstructions("A").entryId).toBeUndefined();
    session.setInstructions("B");
    session.setInstructions("C");
    expect(session.getEntries().map(({ type }) => type)).toEqual([
      "message",
      "context_edit",
      "message",
      "message",
    ]);
    expect(instructions(session)).toBe("C");
  });

  test("applies on its branch only", () => {
    const session = SessionManager.inMemory();
    session.setInstructions("A");
    const question = session.appendMessage(user("Hi"));
    session.setInstructions("B");
    session.branch(question);
    expect(instructions(session)).toBe("A");
  });

  test("is empty for no instructions", () => {
    const session = SessionManager.inMemory();
    session.setInstructions("A");
    session.setInstructions("");
    session.appendMessage(user("Hi"));
    expect(toAnthropic(session.buildSessionContext().messages).system).toBeUndefined();
  });

  test("reports its cost: thinking bound to the old ones, and the cached prompt", () => {
    const session = SessionManager.inMemory();
    session.setInstructions("A");
    session.appendMessage(user("Hi"));
    const thought = { type: "thinking" as const, thinking: "Hm", thinkingSignature: "c2ln" };
    const answer = session.appendMessage(
      assistant([thought, { type: "text", text: "Hello." }], { usage: { ...usage(900), cacheRead: 600 } }),
    );
    session.appendMessage(assistant("And?", { usage: { ...usage(20), cacheRead: 1000, cacheWrite: 30 } }));
    expect(session.setInstructions("B")).toMatchObject({ voidThinkingIds: [answer], uncachedTokens: 1050 });
  });

  test("is read by every other reader of the file", () => {
    const folder = temporaryFolder();
    const session = SessionManager.create(folder, folder);
    session.setInstructions("A");
    session.appendMessage(user("Hi"));
    session.setInstructions("B");
    const read = SessionManager.open(session.getSessionFile() ?? "");
    expect(read.buildSessionContext()).toEqual(session.buildSessionContext());
    expect(instructions(read)).toBe("B");
  });

  test("rejects a value that is not a string", () => {
    const session = SessionManager.inMemory();
    expect(() => session.setInstructions(JSON.parse("7"))).toThrow(TypeError);
  });
});
