import { expect, test } from "vitest";
import { makeHeading } from "../../../src/apps/page/model/entry-text.ts";
import { getEntryKind } from "../../../src/apps/text/entry-kind.ts";

const HEAD = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

function headingFor(fields: { type: string; [name: string]: unknown }) {
  const entry = { ...HEAD, ...fields };
  return makeHeading(entry, getEntryKind(entry));
}

test("the heading of an answer shows its model and how it ended", () => {
  const message = { role: "assistant", model: "acorn-2", stopReason: "error", content: [] };
  expect(headingFor({ type: "message", message })).toMatchObject({
    text: "acorn-2",
    level: 3,
    outcome: "failed",
  });
});

test("a prompt begins a turn", () => {
  const message = { role: "user", content: "hello" };
  expect(headingFor({ type: "message", message })).toMatchObject({ text: "You", level: 2 });
});

test("the heading of a custom message shows its type", () => {
  expect(headingFor({ type: "custom_message", customType: "note", content: "x" }).text).toBe("note");
  expect(headingFor({ type: "message", message: { role: "custom", customType: "hint" } }).text).toBe("hint");
  expect(headingFor({ type: "custom_message", content: "x" }).text).toBe("custom message");
});

test("an unknown type with the name of a role has a different heading", () => {
  const message = { model: "acorn-2", stopReason: "error" };
  expect(headingFor({ type: "assistant", message })).toMatchObject({
    text: "assistant",
    level: undefined,
    outcome: undefined,
  });
  expect(headingFor({ type: "user" })).toMatchObject({ text: "user", level: undefined });
});
