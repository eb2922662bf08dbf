import { expect, test } from "vitest";
import { getEntryKind, isConversation } from "../../../src/apps/text/entry-kind.ts";

const HEAD = { id: "e1", parentId: null, timestamp: "2026-02-03T09:00:00.000Z" };

const isConversationOf = (fields: { type: string; message?: unknown; customType?: string }) =>
  isConversation(getEntryKind({ ...HEAD, ...fields }));

test.each(["user", "assistant", "toolResult", "bashExecution", "system", "custom", "a role of tomorrow"])(
  "a message of role %s is part of the conversation",
  (role) => expect(isConversationOf({ type: "message", message: { role, content: "" } })).toBe(true),
);

test.each(["custom_message", "compaction", "branch_summary", "context_edit", "damaged"])(
  "an entry of type %s is part of the conversation",
  (type) => expect(isConversationOf({ type })).toBe(true),
);

test.each(["model_change", "thinking_level_change", "label", "session_info", "usage", "a type of tomorrow"])(
  "an entry of type %s is a record",
  (type) => expect(isConversationOf({ type })).toBe(false),
);

test("entries that programs store for themselves, including imports, are records", () => {
  expect(isConversationOf({ type: "custom", customType: "sessiontree.import" })).toBe(false);
});

test("a body that does not parse is part of the conversation", () => {
  expect(isConversation(getEntryKind(undefined))).toBe(true);
});
