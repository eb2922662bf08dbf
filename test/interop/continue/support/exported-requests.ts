import type { SessionManager } from "sessiontree";
import { toArray, toRecord } from "../../../../src/core/context/entry-fields.ts";
import type { ExportedSession } from "../../../../src/interop/continue/exported-session.ts";
import { toAnthropic } from "../../../../src/interop/convert/anthropic/to-anthropic.ts";
import { toOpenAIResponses } from "../../../../src/interop/convert/openai-responses/to-openai-responses.ts";
import { readAnthropicRequest, readResponsesRequest, type Said } from "./said.ts";

type Json = { readonly [name: string]: unknown };

/** Reads the lines of an export's only file. */
export function readLines({ files: [file] }: Pick<ExportedSession, "files">): Json[] {
  const text = new TextDecoder().decode(file?.bytes);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [toRecord(JSON.parse(line))]));
}

/** Returns the history that Codex sends for a rollout: what a compaction leaves, and every item after it. */
export function readRollout(exported: ExportedSession): Said[] {
  let input: unknown[] = [];
  for (const { type, payload } of readLines(exported)) {
    if (type === "response_item") input.push(payload);
    if (type === "compacted") input = [...toArray(toRecord(payload)["replacement_history"])];
  }
  return readResponsesRequest({ input });
}

/** Returns the history that Claude Code sends for a transcript: the messages from the last one to the root. */
export function readTranscript(exported: ExportedSession): Said[] {
  const records = readLines(exported);
  const byUuid = new Map(records.map((record) => [record["uuid"], record]));
  const messages: unknown[] = [];
  let at = records.findLast(({ uuid }) => uuid !== undefined);
  while (at !== undefined) {
    if (at["message"] !== undefined) messages.unshift(at["message"]);
    at = byUuid.get(at["parentUuid"]);
  }
  return readAnthropicRequest({ messages });
}

/** Returns a session's context as it is sent to a program's provider. */
export function readContext(agent: "codex" | "claude-code", session: SessionManager): Said[] {
  const messages = session.buildSessionContext().messages.filter(({ role }) => role !== "system");
  return agent === "codex"
    ? readResponsesRequest(toOpenAIResponses(messages, { dropThinking: true }))
    : readAnthropicRequest(toAnthropic(messages, { dropThinking: true }));
}
