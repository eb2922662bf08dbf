import { expect, test } from "vitest";
import { createProgram, DEFAULT_OPTIONS, diagnose, inventedPath } from "./support/compiler.ts";
import { readText } from "./support/repository.ts";

/** Declarations for names that the lines of the table use, as in a user's program. */
const PRELUDE = `
import { query } from "@anthropic-ai/claude-agent-sdk";
import { type Agent, type AgentInputItem, run } from "@openai/agents-core";
import type { BaseMessage } from "@langchain/core/messages";
import type { StateGraph } from "@langchain/langgraph";
import type { Message as AnthropicAnswer } from "@anthropic-ai/sdk/resources/messages";
import type { Message, SessionManager } from "sessiontree";
import { AcpRecorder, claudeSessionStore, fromAcpPrompt, loadChat, OpenAIAgentsSession, saveChat, toAcpUpdates } from "sessiontree/adapters";
import { fromAnthropicResponse, toAnthropic } from "sessiontree/convert";
import { SessionTreeChatHistory, SessionTreeSaver } from "sessiontree/langgraph";
import type { SessionStore } from "sessiontree/stores";
declare const agent: Agent, manager: SessionManager, session: SessionManager, store: SessionStore;
declare const params: { prompt: Parameters<typeof fromAcpPrompt>[0] }, update: Parameters<AcpRecorder["add"]>[0];
declare const messages: BaseMessage[] & Message[], model: string;
declare const answer: AnthropicAnswer, more: { timestamp: number };
declare const builder: StateGraph<{}>, send: (update: object) => void;
`;

/** Function of docs/first-agent.md, which a separate test compiles. */
const ELSEWHERE = "openPiAgent";

/** Reads the lines that each framework of the table needs, as a block of code; an ellipsis marks omitted code. */
function readRows(): string[] {
  const rows = readText("docs/adapters.md").match(/^\| .+ \| `.+` \| .+ \|$/gm) ?? [];
  return rows.flatMap((row) => {
    const lines = (row.split(" | ")[1] ?? "").split("<br>").map((line) => line.slice(1, -1));
    return lines.length < 2 ? [] : [lines.join("\n").replace(", …)", ", more)")];
  });
}

test("the lines that each framework needs compile as in the table", () => {
  const rows = readRows().filter((row) => !row.includes(ELSEWHERE));
  expect(rows).toHaveLength(8);
  const path = inventedPath("adapter-lines.ts");
  const text = PRELUDE + rows.map((row) => `{\n${row}\n}`).join("\n");
  const program = createProgram([], new Map([[path, text]]), {}, DEFAULT_OPTIONS);
  const lines = text.split("\n");
  expect(diagnose(program, path).map(({ line, message }) => `${lines[line - 1]}: ${message}`)).toEqual([]);
});
