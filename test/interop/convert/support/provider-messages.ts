import fc from "../../../support/fast-check.ts";
import { words } from "./conversations.ts";

type Part = { readonly [field: string]: unknown };
/** A part with its type. */
type Typed = Part & { readonly type: string };

const PNG = { media_type: "image/png", data: "iVBORw0KGgo=" };
const url = "https://example.com/a";
/** An id that is unique, also in lower case. */
const id = fc.noShrink(fc.uuid()).map((one) => one.replaceAll("-", ""));
const signature = fc.base64String({ minLength: 4, maxLength: 12 });
const args = fc.dictionary(words, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2, noNullPrototype: true });
const plainArgs = args.map((one): Part => JSON.parse(JSON.stringify(one)));

/** Generates some parts in a row. */
const some = <P>(part: fc.Arbitrary<P[]>, bounds: { minLength?: number; maxLength?: number } = {}) =>
  fc.array(part, { maxLength: 4, ...bounds }).map((all) => all.flat());
const one = <P extends Part>(part: P): fc.Arbitrary<P[]> => fc.constant([part]);
const text = words.map((said): Typed[] => [{ type: "text", text: `${said}.` }]);

/** Generates alternating turns of both sides. */
const turns = <Turn>(turn: fc.Arbitrary<Turn[]>) =>
  fc.array(turn, { minLength: 1, maxLength: 4 }).map((all) => all.flat());

/** Messages of Anthropic with every kind of block that the API has, in the one spelling that is restored. */
export function anthropicMessages(): fc.Arbitrary<{ role: "user" | "assistant"; content: Typed[] }[]> {
  const image = fc.constantFrom(
    { type: "base64", ...PNG },
    { type: "url", url },
    { type: "file", file_id: "f1" },
  );
  const shown = image.map((source): Typed[] => [{ type: "image", source }]);
  const search = { type: "search_result", source: url, title: "T", content: [{ type: "text", text: "x" }] };
  const sources = [
    { type: "base64", media_type: "application/pdf", data: "AAAA" },
    { type: "url", url },
  ];
  const document = fc
    .constantFrom(...sources, { type: "text", media_type: "text/plain", data: "x" })
    .map((source): Typed[] => [{ type: "document", source, title: "T" }]);
  const user = some(
    fc.oneof(
      text,
      shown,
      document,
      one<Typed>(search),
      one<Typed>({ type: "container_upload", file_id: "f" }),
    ),
    {
      minLength: 1,
    },
  );
  const hosted = fc
    .tuple(
      fc.constantFrom("web_search", "web_fetch", "code_execution", "bash_code_execution", "tool_search"),
      id,
    )
    .map(([name, one]): Typed[] => [
      { type: "server_tool_use", id: `srvtoolu_${one}`, name, input: { query: "x" } },
      {
        type: `${name}_tool_result`,
        tool_use_id: `srvtoolu_${one}`,
        content: { type: "opaque", encrypted: "e" },
      },
    ]);
  const thinking = fc.oneof(
    fc
      .tuple(words, signature)
      .map(([thought, signed]): Typed[] => [{ type: "thinking", thinking: thought, signature: signed }]),
    signature.map((data): Typed[] => [{ type: "redacted_thinking", data }]),
  );
  const cited = one<Typed>({
    type: "text",
    text: "Cited.",
    citations: [{ type: "char_location", cited_text: "x" }],
  });
  const compaction = fc
    .constantFrom({ content: "Before." }, { content: null }, { content: "Before.", encrypted_content: "e" })
    .map((more): Typed[] => [{ type: "compaction", ...more }]);
  const call = fc
    .tuple(id, plainArgs, fc.constantFrom({}, { caller: { type: "code_execution", tool_id: "s" } }))
    .map(
      ([one, input, more]): Typed => ({ type: "tool_use", id: `toolu_${one}`, name: "read", input, ...more }),
    );
  const result = fc.oneof(
    fc.record({ content: some(fc.oneof(text, shown, document, one<Typed>(search)), { minLength: 1 }) }),
    fc.record({ content: some(text, { minLength: 1 }), is_error: fc.constant(true) }),
    fc.constant({}),
  );
  const answer = fc.tuple(
    some(fc.oneof(thinking, text, cited, hosted, compaction)),
    fc.oneof(text, hosted),
    fc.array(fc.tuple(call, result), { maxLength: 3 }),
  );
  return turns(
    fc.tuple(user, answer).map(([said, [blocks, end, calls]]) => [
      { role: "user" as const, content: said },
      { role: "assistant" as const, content: [...blocks, ...end, ...calls.map(([one]) => one)] },
      ...(calls.length === 0
        ? []
        : [
            {
              role: "user" as const,
              content: calls.map(
                ([one, given]): Typed => ({
                  type: "tool_result",
                  tool_use_id: one["id"],
                  ...given,
                }),
              ),
            },
          ]),
    ]),
  );
}

/** Messages of OpenAI's chat with every kind of part that the API has. */
export function openAIChatMessages(): fc.Arbitrary<Part[]> {
  const image = fc.constantFrom(
    { image_url: { url: `data:image/png;base64,${PNG.data}` } },
    { image_url: { url, detail: "high" } },
  );
  const part = fc.oneof(
    text,
    image.map((shown): Part[] => [{ type: "image_url", ...shown }]),
    one<Part>({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
    one<Part>({ type: "file", file: { file_id: "f1", filename: "a.pdf" } }),
  );
  const user = fc.tuple(fc.oneof(words, some(part, { minLength: 2 })), fc.constantFrom({}, { name: "Ann" }));
  const call = fc
    .tuple(
      id,
      fc.oneof(
        plainArgs.map((one) => JSON.stringify(one)),
        fc.constant('{"broken":'),
      ),
    )
    .map(
      ([one, given]): Part => ({
        id: `call_${one}`,
        type: "function",
        function: { name: "read", arguments: given },
      }),
    );
  const custom = id.map(
    (one): Part => ({
      id: `call_${one}`,
      type: "custom",
      custom: { name: "shell", input: "ls" },
    }),
  );
  const said = fc.oneof(
    fc.record({ content: words }),
    fc.record({ content: some(text, { minLength: 2 }) }),
    fc.record({ refusal: words }),
    fc.record({ audio: fc.constant({ id: "audio_1" }) }),
    fc.record({ content: words, reasoning_content: words }),
    fc.record({ content: words, reasoning_details: fc.constant([{ type: "reasoning.text", text: "x" }]) }),
    fc.record({ content: words, annotations: fc.constant([{ type: "url_citation", url }]) }),
  );
  const calls = fc.array(fc.tuple(fc.oneof(call, custom), fc.oneof(words, some(text, { minLength: 2 }))), {
    maxLength: 3,
  });
  return turns(
    fc
      .tuple(user, said, calls, fc.option(words))
      .map(([[content, name], answer, made, rule]): Part[] => [
        ...(rule === null ? [] : [{ role: "system", content: rule }]),
        { role: "user", content, ...name },
        { role: "assistant", ...answer, ...(made.length > 0 && { tool_calls: made.map(([call]) => call) }) },
        ...made.map(([call, content]) => ({ role: "tool", tool_call_id: call["id"], content })),
      ]),
  );
}

/** Items of OpenAI's responses, of every kind that the API has. */
export function openAIResponsesItems(): fc.Arbitrary<Part[]> {
  const shown = fc.constantFrom(
    { detail: "auto", image_url: `data:image/png;base64,${PNG.data}` },
    { detail: "high", image_url: url },
    { detail: "auto", file_id: "f1" },
  );
  const input = fc.oneof(
    words.map((said): Part[] => [{ type: "input_text", text: said }]),
    shown.map((one): Part[] => [{ type: "input_image", ...one }]),
    one<Part>({ type: "input_file", file_id: "f1", filename: "a.pdf" }),
  );
  const user = fc
    .oneof(words, some(input, { minLength: 2 }))
    .map((content): Part[] => [{ role: "user", content }]);
  const annotated = fc.constantFrom([], [{ type: "url_citation", url }]);
  const content = fc.oneof(
    fc
      .tuple(words, annotated)
      .map(([said, annotations]) => ({ type: "output_text", text: said, annotations })),
    words.map((refusal) => ({ type: "refusal", refusal })),
  );
  const message = fc
    .tuple(
      id,
      fc.array(content, { minLength: 1, maxLength: 2 }),
      fc.constantFrom({}, { phase: "commentary" }),
    )
    .map(([one, parts, phase]): Part[] => [
      { type: "message", role: "assistant", id: `msg_${one}`, status: "completed", content: parts, ...phase },
    ]);
  const hosted = fc
    .tuple(
      fc.constantFrom(
        ...[
          "web_search_call",
          "file_search_call",
          "code_interpreter_call",
          "image_generation_call",
          "mcp_call",
        ],
        ...["mcp_list_tools", "mcp_approval_request", "compaction", "item_reference", "tool_search_call"],
      ),
      id,
    )
    .map(([type, one]): Part[] => [{ type, id: `x_${one}`, status: "completed", more: { a: [1] } }]);
  const call = fc
    .tuple(id, plainArgs, fc.oneof(words, some(input, { minLength: 2 })))
    .map(([one, given, output]): Part[] => [
      {
        type: "function_call",
        id: `fc_${one}`,
        call_id: `call_${one}`,
        name: "read",
        arguments: JSON.stringify(given),
      },
      { type: "function_call_output", call_id: `call_${one}`, output },
    ]);
  const custom = fc.tuple(id, words).map(([one, said]): Part[] => [
    { type: "custom_tool_call", id: `ctc_${one}`, call_id: `call_${one}`, name: "patch", input: said },
    { type: "custom_tool_call_output", call_id: `call_${one}`, output: said },
  ]);
  const ofHost = fc
    .tuple(fc.constantFrom("computer_call", "local_shell_call", "shell_call", "apply_patch_call"), id)
    .map(([type, one]): Part[] => [
      { type, id: `x_${one}`, call_id: `call_${one}`, action: { type: "exec" } },
      { type: `${type}_output`, call_id: `call_${one}`, output: "done" },
    ]);
  const reasoning = fc
    .tuple(id, fc.oneof(message, hosted, call, custom, ofHost))
    .map(([one, next]): Part[] => [
      {
        type: "reasoning",
        id: `rs_${one}`,
        summary: [{ type: "summary_text", text: "Hm." }],
        encrypted_content: "e",
      },
      ...next,
    ]);
  const step = fc.oneof(message, hosted, call, custom, ofHost, reasoning);
  return turns(fc.tuple(user, some(step, { minLength: 1 })).map((all) => all.flat()));
}

/** Contents of Gemini with every kind of part that the API has. */
export function geminiContents(): fc.Arbitrary<{ role: "user" | "model"; parts: Part[] }[]> {
  const said = words.map((one): Part[] => [{ text: one }]);
  const blob = fc.constantFrom("image/png", "audio/wav", "application/pdf");
  const user = some(
    fc.oneof(
      said,
      blob.map((mimeType): Part[] => [{ inlineData: { mimeType, data: "AAAA" } }]),
      one<Part>({ fileData: { mimeType: "video/mp4", fileUri: url } }),
    ),
    { minLength: 1 },
  );
  const code = [
    { executableCode: { language: "PYTHON", code: "1" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
  ];
  const signed = (parts: fc.Arbitrary<Part[]>) =>
    fc
      .tuple(parts, fc.option(signature))
      .map(([[first = {}, ...rest], thoughtSignature]): Part[] =>
        thoughtSignature === null ? [first, ...rest] : [{ ...first, thoughtSignature }, ...rest],
      );
  const answer = some(
    fc.oneof(
      signed(said),
      signed(words.map((one): Part[] => [{ thought: true, text: one }])),
      signed(fc.constant(code)),
      signed(one<Part>({ inlineData: { mimeType: "image/png", data: "AAAA" } })),
      signature.map((thoughtSignature): Part[] => [{ text: "", thoughtSignature }]),
    ),
  );
  const response = fc.constantFrom({ output: "x" }, { error: "x" }, { result: { a: 1 } });
  const shown = fc.constantFrom({}, { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] });
  const calls = fc.array(fc.tuple(plainArgs, fc.constantFrom("read", "write"), response, shown), {
    maxLength: 3,
  });
  return turns(
    fc.tuple(user, answer, said, calls).map(([given, parts, end, made]) => [
      { role: "user" as const, parts: given },
      {
        role: "model" as const,
        parts: [
          ...parts,
          ...end,
          ...made.map(([args, name], at) => ({
            functionCall: { name, args },
            ...(at === 0 && { thoughtSignature: "c2ln" }),
          })),
        ],
      },
      ...(made.length === 0
        ? []
        : [
            {
              role: "user" as const,
              parts: made.map(([, name, response, more]) => ({
                functionResponse: { name, response, ...more },
              })),
            },
            { role: "model" as const, parts: [{ text: "Done." }] },
          ]),
    ]),
  );
}

const makeItem = (family: string, one: string) => ({ [family]: { itemId: one } });

/** UI messages of the AI SDK with every kind of part and state. */
export function uiMessages(): fc.Arbitrary<
  { id: string; role: "user" | "assistant"; parts: { type: string }[] }[]
> {
  type UI = { readonly type: string; readonly [field: string]: unknown };
  const all = (...parts: UI[]) => fc.constant(parts);
  const said = words.map((one): UI[] => [{ type: "text", text: one }]);
  const file = fc.constantFrom<UI>(
    { type: "file", mediaType: "image/png", url: `data:image/png;base64,${PNG.data}` },
    {
      type: "file",
      mediaType: "application/pdf",
      filename: "a.pdf",
      url: "data:application/pdf;base64,AAAA",
    },
    { type: "file", mediaType: "image/png", url: `${url}.png` },
  );
  const files = file.map((one) => [one]);
  const user = fc
    .tuple(fc.array(fc.oneof(said, files), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([parts, hasData]) => (hasData ? [...parts, [{ type: "data-weather", id: "w", data: 1 }]] : parts));
  const outcome = fc.constantFrom(
    { state: "output-available", output: "text" },
    { state: "output-available", output: { a: [1] } },
    { state: "output-error", errorText: "bad" },
  );
  const kind = fc.constantFrom({ type: "tool-read" }, { type: "dynamic-tool", toolName: "find" });
  const tool = fc
    .tuple(id, kind, outcome, plainArgs)
    .map(([one, kind, given, input]): UI[] => [{ ...kind, toolCallId: one, input, ...given }]);
  const hosted = fc.tuple(id, outcome).map(([one, given]): UI[] => [
    {
      type: "tool-web_search",
      toolCallId: one,
      input: { q: 1 },
      ...given,
      providerExecuted: true,
      callProviderMetadata: makeItem("openai", `ws_${one}`),
    },
  ]);
  const reasoning = fc
    .tuple(id, words)
    .map(([one, thought]): UI[] => [
      { type: "reasoning", text: thought, providerMetadata: makeItem("openai", `rs_${one}`) },
    ]);
  const step = fc.tuple(
    fc.array(fc.oneof(reasoning, said, hosted, tool, files), { maxLength: 4 }),
    fc.oneof(said, tool),
    fc.array(
      fc.oneof(
        all({ type: "source-url", sourceId: "s", url }),
        all({ type: "data-weather", id: "w", data: { degrees: 20 } }),
      ),
      { maxLength: 1 },
    ),
  );
  const steps = fc.array(step, { minLength: 1, maxLength: 3 });
  return turns(
    fc.tuple(id, id, user, steps).map(([u, a, given, made]) => [
      { id: u, role: "user" as const, parts: given.flat() },
      {
        id: a,
        role: "assistant" as const,
        parts: made.flatMap(([parts, end, more]) => [
          { type: "step-start" },
          ...parts.flat(),
          ...end,
          ...more.flat(),
        ]),
      },
    ]),
  );
}
