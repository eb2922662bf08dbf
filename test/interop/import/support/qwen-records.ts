import { importQwen, type QwenInput } from "../../../../src/interop/import/qwen/import-qwen.ts";
import { readSourceText } from "../../../../src/interop/import/source-text.ts";
import { joinLines, uuid } from "./claude-records.ts";

/** A record as Qwen Code writes it, created by these functions. */
export type QwenRecord = { [field: string]: unknown };

export const QWEN_ID = "b0000000-0000-4000-8000-000000000001";

/** Creates the records of a chat, each a child of the previous one unless it names its parent. */
export function chat(records: readonly QwenRecord[]): QwenRecord[] {
  return records.map((record, i) => ({
    parentUuid: records[i - 1]?.["uuid"] ?? null,
    sessionId: QWEN_ID,
    timestamp: new Date(Date.UTC(2026, 10, 23, 5, 0, i)).toISOString(),
    cwd: "/code/project",
    version: "0.15.10",
    ...record,
  }));
}

export function asked(name: string, text: string, fields: object = {}): QwenRecord {
  return { uuid: uuid(name), type: "user", message: { role: "user", parts: [{ text }] }, ...fields };
}

/** Returns an answer with its parts: 100 tokens of input, 60 of them cached, and 10 of output. */
export function answered(name: string, parts: readonly object[], fields: object = {}): QwenRecord {
  const usageMetadata = {
    promptTokenCount: 100,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 4,
    cachedContentTokenCount: 60,
    totalTokenCount: 110,
  };
  const message = { role: "model", parts };
  return { uuid: uuid(name), type: "assistant", model: "q-1", message, usageMetadata, ...fields };
}

export function makeCall(id: string, name = "run_shell_command"): object {
  return { functionCall: { id, name, args: { of: id } } };
}

export function resulted(name: string, id: string, output: string, status = "success"): QwenRecord {
  const functionResponse = { id, name: "run_shell_command", response: { output } };
  return {
    uuid: uuid(name),
    type: "tool_result",
    message: { role: "user", parts: [{ functionResponse }] },
    toolCallResult: { callId: id, status, resultDisplay: "shown" },
  };
}

export function system(name: string, subtype: string, systemPayload: object): QwenRecord {
  return { uuid: uuid(name), type: "system", subtype, systemPayload };
}

/** Returns a call's report: by default, of one with the tokens of `answered`. */
export function report(name: string, responseId: string, fields: object = {}): QwenRecord {
  const uiEvent = {
    "event.name": "qwen-code.api_response",
    response_id: responseId,
    model: "q-1",
    input_token_count: 100,
    output_token_count: 10,
    cached_content_token_count: 60,
    thoughts_token_count: 4,
    total_token_count: 110,
    auth_type: "openai",
    ...fields,
  };
  return system(name, "ui_telemetry", { uiEvent });
}

export function importChat(records: readonly QwenRecord[], more: Partial<QwenInput> = {}) {
  const text = readSourceText(joinLines(chat(records)));
  return importQwen({ ...text, importedAt: "2027-01-01T00:00:00.000Z", ...more });
}
