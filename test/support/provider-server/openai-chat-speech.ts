import { type NextId, pieces, type ScriptedAnswer, type SpokenAnswer, USAGE } from "./scripted-answer.ts";

/** Writes an answer in the Chat Completions API's format. */
export function speakOpenAIChat(answer: ScriptedAnswer, model: string, nextId: NextId): SpokenAnswer {
  const { text, calls = [], isCut = false } = answer;
  const tool_calls = calls.map((call) => ({
    id: nextId("call"),
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const finish_reason = isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop";
  const usage = {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
    prompt_tokens_details: { cached_tokens: USAGE.cached },
    completion_tokens_details: { reasoning_tokens: USAGE.reasoning },
  };
  const base = { id: nextId("chatcmpl"), created: 1_790_000_000, model };
  const message = {
    role: "assistant",
    content: text ?? null,
    refusal: null,
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  const deltas = [
    { role: "assistant", content: "" },
    ...pieces(text ?? "").map((content) => ({ content })),
    ...tool_calls.flatMap((call, index) => callDeltas(call, index)),
  ];
  const chunk = (choices: object[], rest: object = {}) => ({
    data: { ...base, object: "chat.completion.chunk", choices, ...rest },
  });
  return {
    body: {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason, logprobs: null }],
      usage,
    },
    events: [
      ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
      chunk([{ index: 0, delta: {}, finish_reason }]),
      chunk([], { usage }),
      { data: "[DONE]" },
    ],
    issued: [message],
  };
}

function callDeltas(
  call: { id: string; function: { name: string; arguments: string } },
  index: number,
): object[] {
  const { name, arguments: args } = call.function;
  const first = { index, id: call.id, type: "function", function: { name, arguments: "" } };
  const rest = pieces(args).map((piece) => ({ index, function: { arguments: piece } }));
  return [first, ...rest].map((one) => ({ tool_calls: [one] }));
}
