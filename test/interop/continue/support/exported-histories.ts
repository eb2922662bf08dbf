import { toArray, toRecord } from "../../../../src/core/context/entry-fields.ts";
import type { ExportedSession } from "../../../../src/interop/continue/exported-session.ts";
import { readLines } from "./exported-requests.ts";
import { readGeminiRequest } from "./gemini-opencode-pi.ts";
import { readAnthropicRequest, type Said } from "./said.ts";

/** Returns the history that Gemini CLI sends for a log, without the text that the export puts before some prompts. */
export function readLog(exported: ExportedSession): Said[] {
  const contents = readLines(exported).flatMap(({ type, content }) => {
    if (type === "user") return [{ role: "user", parts: content }];
    return type === "gemini" ? [{ role: "model", parts: content }] : [];
  });
  return withoutAdded(readGeminiRequest({ contents }));
}

/** Removes the text that the export to Gemini CLI puts before some prompts. */
export function withoutAdded(said: readonly Said[]): Said[] {
  return said.filter((one) => one.kind !== "user" || one.text !== "The user wrote:");
}

/** Returns the history that OpenCode sends for a document to Anthropic's Messages API. */
export function readDocument(exported: ExportedSession): Said[] {
  const [document] = readLines(exported);
  const messages = toArray(document?.["messages"]).flatMap((message) => {
    const { info, parts } = toRecord(message);
    const blocks = toArray(parts).map(toRecord);
    if (toRecord(info)["role"] === "user") return [{ role: "user", content: blocks.map(toBlock) }];
    const results = blocks.flatMap((part) => (part["type"] === "tool" ? [toResult(part)] : []));
    return [
      { role: "assistant", content: blocks.map(toBlock) },
      { role: "user", content: results },
    ];
  });
  return readAnthropicRequest({ messages });
}

type Json = { readonly [name: string]: unknown };

function toBlock({ type, text, url, callID, tool, state }: Json): object {
  if (type === "text") return { type, text };
  if (type === "tool") return { type: "tool_use", id: callID, name: tool, input: toRecord(state)["input"] };
  return { type: "image", source: { data: String(url).split(",").at(-1) } };
}

function toResult({ callID, state }: Json): object {
  const { status, output, error, attachments } = toRecord(state);
  const isError = status === "error";
  const text = { type: "text", text: isError ? error : output };
  const images = toArray(attachments).map((file) => toBlock(toRecord(file)));
  return { type: "tool_result", tool_use_id: callID, content: [text, ...images], is_error: isError };
}

/** Sorts consecutive results by id: OpenCode stores each with its call. */
export function sortResults(said: readonly Said[]): Said[] {
  const sorted: Said[] = [];
  for (const one of said) {
    let at = sorted.length;
    for (let before = sorted[at - 1]; isAfter(before, one); before = sorted[at - 1]) at--;
    sorted.splice(at, 0, one);
  }
  return sorted;
}

function isAfter(before: Said | undefined, one: Said): boolean {
  return before?.kind === "result" && one.kind === "result" && before.id > one.id;
}
