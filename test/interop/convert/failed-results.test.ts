import type { AgentMessage } from "sessiontree";
import { toOpenAIChat, toOpenAIResponses } from "sessiontree/convert";
import { expect, test } from "vitest";
import { assistant, call, toolResult, user } from "../../support/messages.ts";

test.each([
  ["toOpenAIChat", toOpenAIChat],
  ["toOpenAIResponses", toOpenAIResponses],
] as const)("%s reports once in a session that results cannot be marked as failed", (_name, convert) => {
  const turns: AgentMessage[][] = [
    [user("Go."), assistant("", {}, call("1"))],
    [toolResult("1", "Fine."), assistant("", {}, call("2"), call("3"))],
    [
      toolResult("2", "No such file.", true),
      toolResult("3", "Nor that.", true),
      assistant("", {}, call("4")),
    ],
    [toolResult("4", "Denied.", true), assistant("I give up.")],
    [user("Again."), assistant("", {}, call("5"))],
    [toolResult("5", "Denied.", true)],
  ];
  const messages: AgentMessage[] = [];
  const reported: [turn: number, index: number][] = [];
  for (const [turn, [first = user(""), ...answered]] of turns.entries()) {
    // The request comes before the answer of its turn, with all results of the previous one.
    const results = answered.filter(({ role }) => role === "toolResult");
    messages.push(first, ...results);
    for (const { code, index } of convert(messages).issues)
      if (code === "FLAG_DROPPED") reported.push([turn, index]);
    messages.push(...answered.filter(({ role }) => role !== "toolResult"));
  }
  expect(reported).toEqual([[2, 4]]);
});
