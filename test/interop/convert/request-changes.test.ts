import { SessionManager } from "sessiontree";
import { requestChanges } from "sessiontree/convert";
import { expect, it } from "vitest";
import { listRequestChanges } from "../../../src/interop/convert/session/request-changes.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";

/** A session of two turns; returns the ids of its entries. */
function begin() {
  const session = SessionManager.inMemory();
  const append = (message: Parameters<typeof session.appendMessage>[0]) => session.appendMessage(message);
  const u1 = append(user("u1"));
  const a1 = append(assistant("a1", {}, call("c1")));
  const r1 = append(toolResult("c1", "found"));
  const a2 = append(assistant("a2"));
  const u2 = append(user("u2"));
  const a3 = append(assistant("a3"));
  return { session, append, u1, a1, r1, a2, u2, a3 };
}

it("finds nothing where a request continues the previous one", () => {
  const { session, a1, a2, a3, append } = begin();
  append(user("u3"));
  expect(requestChanges(session, a1, a2)).toBeUndefined();
  expect(requestChanges(session, a1, a3)).toBeUndefined();
  expect(requestChanges(session, a3)).toBeUndefined();
  expect(listRequestChanges(session)).toEqual([]);
});

it.each<unknown>([5, {}, null, undefined, { toString: 0 }])(
  "accepts an answer whose API and model are %j",
  (value) => {
    const { session, append, a3 } = begin();
    const fields = JSON.parse(JSON.stringify({ api: value, provider: value, model: value }));
    const { api: _, provider: __, model: ___, ...answer } = assistant("a4");
    append(user("u3"));
    const a4 = append({ ...answer, ...fields });
    const message = expect.stringContaining("unknown/unknown was requested after");
    expect(requestChanges(session, a3, a4)).toMatchObject({ index: -1, causedBy: a4, message });
    append(user("u4"));
    expect(requestChanges(session, a4)).toBeUndefined();
  },
);

it("returns the message that differs and the entry that caused it", () => {
  const { session, a3, r1, append } = begin();
  const edit = session.appendContextEdit(r1, { content: "less" });
  append(user("u3"));
  const a4 = append(assistant("a4"));
  const change = {
    index: 1,
    entryId: session.getPathIds()[1],
    causedBy: edit,
    message: `Message 1 (entry ${session.getPathIds()[1]}) differs because of the context edit ${edit}.`,
  };
  expect(requestChanges(session, a3, a4)).toEqual(change);
  expect(listRequestChanges(session)).toEqual([{ ...change, fromId: a3, toId: a4 }]);
});

it("returns a compaction, new instructions, a late result, and a redaction", () => {
  const causes = [
    ({ session, u2 }: ReturnType<typeof begin>) => session.appendCompaction("Notes.", u2, 10),
    ({ append }: ReturnType<typeof begin>) => append({ role: "system", content: "Be brief.", timestamp: 1 }),
    ({ session, u1 }: ReturnType<typeof begin>) => session.redactEntry(u1),
  ];
  for (const cause of causes) {
    const story = begin();
    const causedBy = cause(story);
    expect(requestChanges(story.session, story.a3)).toMatchObject({ causedBy });
    story.append(user("u3"));
    const a4 = story.append(assistant("a4"));
    expect(listRequestChanges(story.session)).toMatchObject([{ fromId: story.a3, toId: a4, causedBy }]);
    story.append(user("u4"));
    expect(requestChanges(story.session, a4)).toBeUndefined();
  }
  const { session, append, a1 } = begin();
  session.branch(a1);
  append(user("Meanwhile?"));
  const a2 = append(assistant("a2"));
  const late = append(toolResult("c1", "late"));
  expect(requestChanges(session, a2)).toMatchObject({ entryId: a1, causedBy: late });
});

it("returns where branches diverge, and a changed model", () => {
  const { session, append, a2, a3 } = begin();
  session.branch(a2);
  const other = append(user("Another way."));
  const a4 = append(assistant("a4", { model: "m2" }));
  append(user("u5"));
  expect(requestChanges(session, a3)).toMatchObject({ causedBy: other });
  expect(requestChanges(session, a3, a4)).toMatchObject({ index: -1, causedBy: a4 });
});

it("refuses an unknown entry", () => {
  const { session } = begin();
  expect(() => requestChanges(session, "nowhere")).toThrow("Entry nowhere not found");
});
