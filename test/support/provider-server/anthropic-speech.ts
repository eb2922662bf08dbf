import { checkAnthropicRequest } from "../provider-rules/anthropic.ts";
import {
  makeSignature,
  type NextId,
  pieces,
  type ScriptedAnswer,
  type SpokenAnswer,
  USAGE,
} from "./scripted-answer.ts";

type Block = { readonly type: string; readonly [field: string]: unknown };

/** Returns the faults of a request to the Messages API. */
export function judgeAnthropic(request: unknown, issued: readonly (readonly object[])[]): string[] {
  return checkAnthropicRequest(request, {
    issued,
    isSignature: (signature, thinking) => signature === makeSignature(thinking),
  });
}

/** Writes an answer in the Messages API's format. */
export function speakAnthropic(answer: ScriptedAnswer, model: string, nextId: NextId): SpokenAnswer {
  const { thinking, text, calls = [], isCut = false } = answer;
  const content: Block[] = [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: makeSignature(thinking) }]),
    ...(text === undefined ? [] : [{ type: "text", text, citations: null }]),
    ...calls.map(({ name, arguments: input }) => ({ type: "tool_use", id: nextId("toolu"), name, input })),
  ];
  const stop_reason = isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
  const usage = {
    // Unlike at other providers, cache reads are not counted in the input, too.
    input_tokens: USAGE.input - USAGE.cached,
    output_tokens: USAGE.output,
    cache_read_input_tokens: USAGE.cached,
    cache_creation_input_tokens: 0,
  };
  const base = { id: nextId("msg"), type: "message", role: "assistant", model, stop_sequence: null };
  const start = { ...base, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const events = [
    { type: "message_start", message: start },
    { type: "ping" },
    ...content.flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return {
    body: { ...base, content, stop_reason, usage },
    events: events.map((data) => ({ name: data.type, data })),
    issued: content,
  };
}

function blockEvents(block: Block, index: number): { readonly type: string }[] {
  const deltas = makeDeltas(block).map((delta) => ({ type: "content_block_delta", index, delta }));
  return [
    { type: "content_block_start", index, content_block: emptied(block) } as { type: string },
    ...deltas,
    { type: "content_block_stop", index } as { type: string },
  ];
}

function emptied(block: Block): Block {
  if (block.type === "text") return { ...block, text: "" };
  return block.type === "tool_use" ? { ...block, input: {} } : { ...block, thinking: "", signature: "" };
}

function makeDeltas({ type, text, thinking, signature, input }: Block): object[] {
  if (type === "text") return pieces(String(text)).map((piece) => ({ type: "text_delta", text: piece }));
  if (type === "tool_use") {
    return pieces(JSON.stringify(input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
  }
  return [
    ...pieces(String(thinking)).map((piece) => ({ type: "thinking_delta", thinking: piece })),
    { type: "signature_delta", signature },
  ];
}
