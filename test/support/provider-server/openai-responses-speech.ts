import {
  makeSignature,
  type NextId,
  pieces,
  type ScriptedAnswer,
  type SpokenAnswer,
  USAGE,
} from "./scripted-answer.ts";

type Item = { readonly type: string; readonly id: string; readonly [field: string]: unknown };
type Event = { readonly type: string; readonly [field: string]: unknown };

const usage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: USAGE.cached, cache_write_tokens: 0 },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: USAGE.reasoning },
  total_tokens: USAGE.input + USAGE.output,
};

/** Writes an answer in the Responses API's format. */
export function speakOpenAIResponses(answer: ScriptedAnswer, model: string, nextId: NextId): SpokenAnswer {
  const output = makeItems(answer, nextId);
  const isCut = answer.isCut === true;
  const base = {
    id: nextId("resp"),
    object: "response",
    created_at: 1_790_000_000,
    model,
    error: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tools: [],
    tool_choice: "auto",
    temperature: 1,
    top_p: 1,
  };
  const begun = { ...base, status: "in_progress", output: [], usage: null, incomplete_details: null };
  const body = {
    ...base,
    status: isCut ? "incomplete" : "completed",
    output,
    usage,
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
  };
  const events: Event[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap((item, output_index) => itemEvents(item, output_index)),
    { type: isCut ? "response.incomplete" : "response.completed", response: body },
  ];
  return {
    body,
    events: events.map((event, sequence_number) => ({
      name: event.type,
      data: { ...event, sequence_number },
    })),
    issued: output,
  };
}

/** Returns the result of `responses.compact` for an input. */
export function compactOpenAI(nextId: NextId): object {
  const item = { type: "compaction", id: nextId("cmp"), encrypted_content: makeSignature("compaction") };
  return {
    id: nextId("resp"),
    object: "response.compaction",
    created_at: 1_790_000_000,
    output: [item],
    usage,
  };
}

function compactionItem(nextId: NextId): Item {
  return { type: "compaction", id: nextId("cmp"), encrypted_content: makeSignature("compaction") };
}

function makeItems({ thinking, text, calls = [], compacts }: ScriptedAnswer, nextId: NextId): Item[] {
  return [
    ...(compacts === true ? [compactionItem(nextId)] : []),
    ...(thinking === undefined
      ? []
      : [
          {
            type: "reasoning",
            id: nextId("rs"),
            summary: [{ type: "summary_text", text: thinking }],
            encrypted_content: makeSignature(thinking),
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: "message",
            id: nextId("msg"),
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map((call) => ({
      type: "function_call",
      id: nextId("fc"),
      call_id: nextId("call"),
      name: call.name,
      arguments: JSON.stringify(call.arguments),
      status: "completed",
    })),
  ];
}

function itemEvents(item: Item, output_index: number): Event[] {
  const place = { item_id: item.id, output_index };
  return [
    { type: "response.output_item.added", output_index, item: emptied(item) },
    ...innerEvents(item, place),
    { type: "response.output_item.done", output_index, item },
  ];
}

function emptied(item: Item): Item {
  if (item.type === "compaction") return item;
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  if (item.type === "reasoning") return { ...item, summary: [], encrypted_content: "" };
  return { ...item, status: "in_progress", arguments: "" };
}

function innerEvents(item: Item, place: object): Event[] {
  if (item.type === "compaction") return [];
  if (item.type === "function_call") {
    const args = String(item["arguments"]);
    return [
      ...deltas("response.function_call_arguments.delta", args, place),
      { type: "response.function_call_arguments.done", ...place, name: item["name"], arguments: args },
    ];
  }
  const parts = item.type === "message" ? item["content"] : item["summary"];
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: { text: string }, index): Event[] =>
    item.type === "message"
      ? textEvents(part, { ...place, content_index: index })
      : summaryEvents(part, { ...place, summary_index: index }),
  );
}

function textEvents(part: { text: string }, place: object): Event[] {
  return [
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...deltas("response.output_text.delta", part.text, { ...place, logprobs: [] }),
    { type: "response.output_text.done", ...place, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
  ];
}

function summaryEvents(part: { text: string }, place: object): Event[] {
  return [
    { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
    ...deltas("response.reasoning_summary_text.delta", part.text, place),
    { type: "response.reasoning_summary_text.done", ...place, text: part.text },
    { type: "response.reasoning_summary_part.done", ...place, part },
  ];
}

function deltas(type: string, text: string, place: object): Event[] {
  return pieces(text).map((delta) => ({ type, ...place, delta }));
}
