import { type CopilotInput, importCopilot } from "../../../../src/interop/import/copilot/import-copilot.ts";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import { joinLines } from "./claude-records.ts";

/** An event as Copilot CLI writes it, created by these functions. */
export type CopilotEvent = { [field: string]: unknown };

export const COPILOT_ID = "c0000000-0000-4000-8000-000000000001";

/** Numbers events as the program does: with ids and times, each after the previous one. */
export function numbered(events: readonly CopilotEvent[], first = 1): CopilotEvent[] {
  return events.map((event, i) => ({
    ...event,
    id: makeId(first + i),
    parentId: first + i === 1 ? null : makeId(first + i - 1),
    timestamp: makeTime(first + i),
  }));
}

export function makeId(number: number): string {
  return `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`;
}

export function makeTime(number: number): string {
  return new Date(Date.UTC(2026, 10, 23, 5, 0, number)).toISOString();
}

/** @param agentId - Id of the subagent that the event belongs to. */
export function event(type: string, data: object = {}, agentId?: string): CopilotEvent {
  return { type, data, ...(agentId !== undefined && { agentId }) };
}

export function start(fields: object = {}): CopilotEvent {
  const context = { cwd: "/code/project" };
  const told = {
    sessionId: COPILOT_ID,
    version: 1,
    copilotVersion: "1.0.102",
    selectedModel: "m-1",
    context,
  };
  return event("session.start", { ...told, ...fields });
}

export function prompt(content: string, fields: object = {}, agentId?: string): CopilotEvent {
  return event("user.message", { content, transformedContent: `<now/>\n\n${content}`, ...fields }, agentId);
}

/** Returns the record of a call's tokens: 100 of input, 60 of them cached, and 10 of output. */
export function tokens(apiCallId: string, fields: object = {}, agentId?: string): CopilotEvent {
  const counts = {
    inputTokens: 100,
    outputTokens: 10,
    cacheReadTokens: 60,
    cacheWriteTokens: 0,
    reasoningTokens: 4,
  };
  const usage = { model: "m-1", ...counts, cost: 1, apiEndpoint: "/chat/completions", apiCallId, ...fields };
  return event("session.usage_record", { usage }, agentId);
}

/** Returns an answer with tool calls by their ids. */
export function answer(
  apiCallId: string,
  content: string,
  calls: Readonly<Record<string, string>> = {},
  agentId?: string,
): CopilotEvent {
  const toolRequests = Object.entries(calls).map(([toolCallId, name]) => ({
    toolCallId,
    name,
    arguments: { of: toolCallId },
    type: "function",
  }));
  return event("assistant.message", { apiCallId, model: "m-1", content, toolRequests }, agentId);
}

export function result(
  toolCallId: string,
  content: string,
  fields: object = {},
  agentId?: string,
): CopilotEvent {
  return event(
    "tool.execution_complete",
    { toolCallId, success: true, result: { content }, ...fields },
    agentId,
  );
}

export function importEvents(events: readonly CopilotEvent[], more: Partial<CopilotInput> = {}) {
  const text = readSourceText(joinLines(events));
  return importCopilot({ ...text, importedAt: "2027-01-01T00:00:00.000Z", ...more });
}
