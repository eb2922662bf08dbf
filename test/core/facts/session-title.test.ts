import { describe, expect, test } from "vitest";
import { MAX_FIRST_MESSAGE } from "../../../src/core/facts/session-facts.ts";
import { findTitleText, getSessionTitle, OpeningFinder } from "../../../src/core/facts/session-title.ts";

const user = (content: string) => ({ role: "user", content });
const answer = { role: "assistant", stopReason: "stop", content: [{ type: "text", text: "Done." }] };
const aborted = { role: "assistant", stopReason: "aborted", content: [{ type: "thinking", thinking: "Hm" }] };
const cutOff = { role: "assistant", stopReason: "aborted", content: [{ type: "text", text: "It is" }] };
const CONTEXT = user("<environment_context>Monday</environment_context>");
const INTERRUPTED = user("[Request interrupted by user]");

/** Reads messages one by one, each with a finder that continues the previous one. */
function open(...messages: readonly object[]) {
  return messages.reduce<OpeningFinder>((before, message) => {
    const finder = new OpeningFinder(before.opening);
    finder.add("message", { message });
    return finder;
  }, new OpeningFinder()).opening;
}

describe("the opening of a session", () => {
  test.each([
    ["a prompt that was answered", [user("Fix it"), answer, user("Test it")], "Fix it", "settled"],
    ["a prompt that waits", [user("Fix it")], "Fix it", "open"],
    ["the first of two prompts in a row", [user("Fix it"), user("Now")], "Fix it", "settled"],
    ["the prompt after a command", [user("/init"), answer, user("Fix it"), answer], "Fix it", "settled"],
    ["a command alone", [user("/init"), answer, user("/clear")], "/init", "command"],
    ["a path before a prompt", [user("/etc is full"), answer, user("Thanks")], "/etc is full", "settled"],
    [
      "a prompt that begins with a tag",
      [user("<a-context> is odd"), answer],
      "<a-context> is odd",
      "settled",
    ],
    [
      "the task of a command",
      [user("/goal fix all bugs"), answer, user("Ok")],
      "/goal fix all bugs",
      "settled",
    ],
    ["the prompt after context", [CONTEXT, user("Fix it")], "Fix it", "open"],
    ["the prompt after an aborted one", [user("No"), aborted, user("Fix it"), answer], "Fix it", "settled"],
    ["the prompt after an interrupted one", [user("No"), INTERRUPTED, user("Fix it")], "Fix it", "open"],
    ["an aborted prompt that is the only one", [user("Fix it"), aborted, INTERRUPTED], "Fix it", "aborted"],
    [
      "a prompt whose answer was cut off",
      [user("Fix it"), cutOff, INTERRUPTED, user("No")],
      "Fix it",
      "settled",
    ],
    ["nothing", [CONTEXT, INTERRUPTED, answer], "", "none"],
  ])("is %s", (_, messages, text, state) => {
    expect(open(...messages)).toEqual({ text, state });
  });

  test("is the message after an aborted turn of Codex", () => {
    const finder = new OpeningFinder(open(user("No")));
    finder.add("custom_message", { content: "<turn_aborted>\nThe user interrupted.\n</turn_aborted>" });
    finder.add("message", { message: user("Fix it") });
    expect(finder.opening).toEqual({ text: "Fix it", state: "open" });
  });
});

test("a title is the name, else the opening, else the file's name, else the time", () => {
  const createdMs = new Date(2026, 1, 3, 9, 5).getTime();
  const opening = open(user("# Fix **it**"));
  const file = { fileName: "till.jsonl", createdMs };
  expect(getSessionTitle({ name: "Till", opening, ...file })).toBe("Till");
  expect(getSessionTitle({ name: " ", opening, ...file })).toBe("Fix it");
  expect(getSessionTitle({ firstMessage: "/init", ...file })).toBe("/init");
  expect(getSessionTitle({ opening: open(), firstMessage: CONTEXT.content, ...file })).toBe("till");
  expect(getSessionTitle({ fileName: "2026-02-03T09-05-00-000Z_0198aaaa.jsonl", createdMs })).toBe(
    "Session of 2026-02-03 09:05",
  );
  expect(getSessionTitle({})).toBe("(untitled)");
});

test("the beginning of context, as stores list it, is not a title", () => {
  const long = `<environment_context>${"Monday ".repeat(100)}`;
  const fileName = "till.jsonl";
  expect(getSessionTitle({ firstMessage: long.slice(0, MAX_FIRST_MESSAGE), fileName })).toBe("till");
  expect(getSessionTitle({ firstMessage: long, fileName })).toMatch(/^<environment_context>Monday/);
});

test("the whole text of a title is known if it is the first message", () => {
  const long = "Fix it. ".repeat(100).trim();
  expect(findTitleText(getSessionTitle({ firstMessage: long }), long)).toBe(long);
  expect(findTitleText("Fix it", "Do not fix it")).toBeUndefined();
});
