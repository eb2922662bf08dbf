import { expect, test } from "vitest";
import { createProgram, diagnose, inventedPath } from "../contract/support/compiler.ts";

// Compiled separately from the other tests, whose messages a role declared here would join.

const USE = `
import type { AgentMessage, SessionEntry, SessionMessageEntry } from "sessiontree";
export const note: AgentMessage = { role: "note", text: "x", timestamp: 1 };
export function textOf(message: AgentMessage): string {
  return message.role === "note" ? message.text : "";
}
export function entryOf(message: AgentMessage): SessionEntry {
  const entry: SessionMessageEntry = { type: "message", id: "a", parentId: null, timestamp: "t", message };
  return entry;
}
`;

const DECLARE = `
declare module "sessiontree" {
  interface CustomAgentMessages {
    note: { role: "note"; text: string; timestamp: number };
  }
}
`;

function faultsOf(text: string): string[] {
  const path = inventedPath("host-roles.ts");
  return diagnose(createProgram([], new Map([[path, text]])), path).map(({ message }) => message);
}

test("a host adds a role to AgentMessage by declaring it", () => {
  expect(faultsOf(USE + DECLARE)).toEqual([]);
});

test("rejects an undeclared role", () => {
  expect(faultsOf(USE).join("\n")).toContain("note");
});
