import { buildSessionContext, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";

const details = (targetId: string, more: object) =>
  ["sessiontree.details", { targetId, details: more }] as const;

test("late details are in the context, the latest per message, and on their branch only", () => {
  const session = SessionManager.inMemory();
  const question = session.appendMessage(user("Why?"));
  const answer = session.appendMessage({ ...assistant("Because."), details: { kept: 1 } });
  const before = session.buildSessionContext();
  session.appendCustomEntry(...details(answer, { state: 1 }));
  session.appendCustomEntry(...details(answer, { state: 2 }));
  session.appendCustomEntry(...details(question, { asked: true }));
  session.appendCustomEntry(...details("ffffffff", { state: 3 }));
  session.appendCustomEntry("sessiontree.details", { targetId: answer, details: "none" });
  const { messages } = session.buildSessionContext();
  expect(messages).toEqual([
    { ...user("Why?"), details: { asked: true }, timestamp: expect.any(Number) },
    { ...assistant("Because."), details: { kept: 1, state: 2 }, timestamp: expect.any(Number) },
  ]);
  expect(buildSessionContext(session.getEntries())).toEqual(session.buildSessionContext());
  expect(session.getEntry(answer)).toMatchObject({ message: { details: { kept: 1 } } });
  session.branch(answer);
  expect(session.buildSessionContext()).toEqual(before);
});

test("a context edit applies next to late details", () => {
  const session = SessionManager.inMemory();
  const answer = session.appendMessage(assistant("Because."));
  session.appendCustomEntry(...details(answer, { state: 1 }));
  session.appendContextEdit(answer, { content: "Why not?" });
  expect(session.buildSessionContext().messages).toMatchObject([
    { content: [{ type: "text", text: "Why not?" }], details: { state: 1 } },
  ]);
  session.appendContextEdit(answer, null);
  expect(session.buildSessionContext().messages).toEqual([]);
});
