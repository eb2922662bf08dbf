import { expect, test } from "vitest";
import { repairToolPairs } from "../../../src/core/context/tool-pairs.ts";
import { importCline } from "../../../src/interop/import/cline/import-cline.ts";
import { importGemini, readGeminiText } from "../../../src/interop/import/gemini/import-gemini.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { importKimi, readKimiText } from "../../../src/interop/import/kimi/import-kimi.ts";
import { importMessages } from "../../../src/interop/import/messages/import-messages.ts";
import { importOpenCode } from "../../../src/interop/import/opencode/import-opencode.ts";
import { importPi4, readPi4Text } from "../../../src/interop/import/pi-v4/import-pi4.ts";
import fc from "../../support/fast-check.ts";
import * as claude from "./support/claude-records.ts";
import * as codex from "./support/codex-records.ts";
import * as copilot from "./support/copilot-records.ts";
import * as opencode from "./support/opencode-records.ts";
import { entry, HEADER_A, tokens } from "./support/pi4-records.ts";
import * as qwen from "./support/qwen-records.ts";
import { readView } from "./support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";

/** A call in a source: its names, whether it has its own item (OpenAI's Responses API), and its result. */
interface Call {
  readonly id: string;
  readonly item: string | undefined;
  /** Whether the source identifies the call by an id; some name only the tool. */
  readonly isNamed: boolean;
  /** Undefined if the call has no result. */
  readonly output: string | undefined;
}

/** The calls of one answer, and their results in the order in which they arrived. */
interface Turn {
  readonly calls: readonly Call[];
  readonly results: readonly (Call & { readonly output: string })[];
}

const callForm = fc.record({
  hasItem: fc.boolean(),
  isNamed: fc.boolean(),
  hasResult: fc.boolean(),
});

const turns: fc.Arbitrary<Turn[]> = fc
  .array(fc.tuple(fc.array(callForm, { minLength: 1, maxLength: 3 }), fc.boolean()), {
    minLength: 1,
    maxLength: 4,
  })
  .map((forms) =>
    forms.map(([all, isReversed], n) => {
      const calls = all.map(({ hasItem, isNamed, hasResult }, i) => ({
        id: `call_${n}${i}`,
        item: hasItem ? `fc_${n}${i}` : undefined,
        isNamed,
        output: hasResult ? `out ${n}${i}` : undefined,
      }));
      const results = calls.flatMap((call) =>
        call.output === undefined ? [] : [{ ...call, output: call.output }],
      );
      return { calls, results: isReversed ? results.reverse() : results };
    }),
  );

/** Returns a tool's input, which identifies the call whatever its id. */
const told = ({ id }: Call) => ({ of: id });

const withItem = ({ item }: Call) => (item === undefined ? {} : { openai: { itemId: item } });

function openCodeSession(all: readonly Turn[]): ImportedSession[] {
  const messages = all.flatMap(({ calls }, n) => [
    opencode.prompt(`q${n}`, n * 10, `prompt ${n}`),
    opencode.answer(
      `a${n}`,
      n * 10 + 1,
      calls.map((call) => ({
        ...opencode.call(call.id, "read", {
          input: told(call),
          ...(call.output === undefined ? { status: "running" } : { output: call.output }),
        }),
        metadata: withItem(call),
      })),
    ),
  ]);
  return [importOpenCode({ document: opencode.makeDocument(messages), importedAt }) ?? []].flat();
}

function codexSession(all: readonly Turn[]): ImportedSession[] {
  const records = all.flatMap(({ calls, results }, n) => [
    ...codex.turn(`prompt ${n}`),
    ...calls.map((call) => codex.call(call.id, { id: call.item, arguments: JSON.stringify(told(call)) })),
    ...results.map(({ id, output }) => codex.output(id, output)),
  ]);
  return [codex.importThread([[codex.meta(), ...records]]) ?? []].flat();
}

function claudeSession(all: readonly Turn[]): ImportedSession[] {
  let last: string | null = null;
  const records = all.flatMap(({ calls, results }, n) => {
    const asked = claude.user(`q${n}`, last, `prompt ${n}`);
    const names = calls.map((_, i) => `c${n}${i}`);
    const parts = calls.map((call, i) =>
      claude.part(`c${n}${i}`, names[i - 1] ?? `q${n}`, `m${n}`, claude.call(call.id, "Read", told(call)), {
        stop: "tool_use",
      }),
    );
    const answers = results.map(({ id, output }) =>
      claude.result(`r${id.slice(5)}`, `c${id.slice(5)}`, id, output),
    );
    const end = results.at(-1);
    last = end === undefined ? (names.at(-1) ?? null) : `r${end.id.slice(5)}`;
    return [asked, ...parts, ...answers];
  });
  return claude.importAll(records);
}

function copilotSession(all: readonly Turn[], agentId?: string): ImportedSession[] {
  const events = all.flatMap(({ calls, results }, n) => {
    const answer = copilot.answer(`r${n}`, `answer ${n}`, {}, agentId);
    const toolRequests = calls.map((call) => ({ toolCallId: call.id, name: "f", arguments: told(call) }));
    const withCalls = { ...answer, data: { ...Object(answer["data"]), toolRequests } };
    return [
      copilot.prompt(`prompt ${n}`, {}, agentId),
      withCalls,
      ...results.map(({ id, output }) => copilot.result(id, output, {}, agentId)),
    ];
  });
  const begun = agentId === undefined ? [copilot.start()] : [copilot.start(), copilot.prompt("start it")];
  return copilot.importEvents(copilot.numbered([...begun, ...events])).slice(agentId === undefined ? 0 : 1);
}

const geminiCall = (call: Call) => ({
  functionCall: { ...(call.isNamed && { id: call.id }), name: `f_${call.id}`, args: told(call) },
});

const geminiResponse = ({ id, isNamed, output }: Turn["results"][number]) => ({
  functionResponse: { ...(isNamed && { id }), name: `f_${id}`, response: { output } },
});

/** @param isListed - Whether the program's own records of calls contain the results, too. */
function geminiSession(all: readonly Turn[], isListed: boolean): ImportedSession[] {
  const timestamp = "2026-11-22T05:01:00.000Z";
  const records = all.flatMap(({ calls, results }, n) => [
    { id: `u${n}`, timestamp, type: "user", content: `prompt ${n}` },
    {
      id: `a${n}`,
      timestamp,
      type: "gemini",
      content: isListed ? "" : calls.map(geminiCall),
      ...(isListed && {
        toolCalls: calls.map((call) => ({
          id: call.id,
          name: "f",
          args: told(call),
          status: "success",
          result: call.output,
        })),
      }),
    },
    ...(isListed || results.length === 0
      ? []
      : [{ id: `r${n}`, timestamp, type: "user", content: results.map(geminiResponse) }]),
  ]);
  const text = claude.joinLines([{ sessionId: "g", projectHash: "h", startTime: timestamp }, ...records]);
  return [importGemini({ ...readGeminiText(text), importedAt }) ?? []].flat();
}

function qwenSession(all: readonly Turn[]): ImportedSession[] {
  return qwen.importChat(
    all.flatMap(({ calls, results }, n) => [
      qwen.asked(`q${n}`, `prompt ${n}`),
      qwen.answered(`a${n}`, calls.map(geminiCall)),
      ...results.map((one) => ({
        ...qwen.resulted(`r${one.id.slice(5)}`, one.id, one.output),
        // The program makes an id for a call without one, and writes it only here.
        message: { role: "user", parts: [geminiResponse({ ...one, isNamed: true })] },
      })),
    ]),
  );
}

function kimiSession(all: readonly Turn[]): ImportedSession[] {
  const loop = (fields: object) => ({ type: "context.append_loop_event", event: fields, time: 1 });
  const records = all.flatMap(({ calls, results }, n) => [
    {
      type: "context.append_message",
      message: { role: "user", id: `m${n}`, content: `prompt ${n}` },
      time: 1,
    },
    loop({ type: "step.begin", uuid: `s${n}` }),
    ...calls.map((call) => loop({ type: "tool.call", toolCallId: call.id, name: "f", args: told(call) })),
    ...results.map(({ id, output }) =>
      loop({ type: "tool.result", parentUuid: id, toolCallId: id, result: { output } }),
    ),
    loop({ type: "step.end", uuid: `s${n}` }),
  ]);
  const text = readKimiText(claude.joinLines(records));
  return importKimi({ sessionId: "k", wires: [{ agentId: "main", ...text }], importedAt });
}

/** @param resultId - The id by which a result names its call. */
function clineSession(all: readonly Turn[], resultId: "id" | "call_id"): ImportedSession[] {
  const messages = all.flatMap(({ calls, results }, n) => [
    { role: "user", content: `prompt ${n}`, ts: n * 10 },
    {
      role: "assistant",
      content: calls.map((call) => ({
        type: "tool_use",
        id: call.item ?? call.id,
        ...(call.item !== undefined && { call_id: call.id }),
        name: "f",
        input: told(call),
      })),
      ts: n * 10 + 1,
    },
    ...(results.length === 0
      ? []
      : [
          {
            role: "user",
            content: results.map(({ id, item, output }) => ({
              type: "tool_result",
              tool_use_id: resultId === "id" ? (item ?? id) : id,
              content: output,
            })),
            ts: n * 10 + 2,
          },
        ]),
  ]);
  return importCline({ document: messages, sessionId: "c", importedAt });
}

function pi4Session(all: readonly Turn[]): ImportedSession[] {
  let seq = 0;
  const message = (fields: object) => {
    seq++;
    const parentId = seq === 1 ? null : `e${seq - 1}`;
    const body = { type: "message", message: { ...fields, timestamp: 1 } };
    return entry(seq, `e${seq}`, parentId, body, "main");
  };
  const idOf = ({ id, item }: Call) => (item === undefined ? id : `${id}|${item}`);
  const records = all.flatMap(({ calls, results }, n) => [
    message({ role: "user", content: `prompt ${n}` }),
    message({
      role: "assistant",
      content: calls.map((call) => ({
        type: "toolCall",
        id: idOf(call),
        name: "f",
        arguments: told(call),
      })),
      api: "openai-responses",
      provider: "openai",
      model: "m",
      stopReason: "toolUse",
      usage: tokens(1, 1),
    }),
    ...results.map((one) =>
      message({
        role: "toolResult",
        toolCallId: idOf(one),
        toolName: "f",
        content: [{ type: "text", text: one.output }],
        isError: false,
      }),
    ),
  ]);
  const text = readPi4Text(claude.joinLines([HEADER_A, ...records]));
  return [importPi4({ ...text, importedAt }) ?? []].flat();
}

/** Returns turns as an array of an SDK's messages. */
type Spelling = (turn: Turn, n: number) => object[];

const SPELLINGS: readonly (readonly [form: string, spell: Spelling])[] = [
  [
    "OpenAI Responses",
    ({ calls, results }, n) => [
      { role: "user", content: [{ type: "input_text", text: `prompt ${n}` }] },
      ...calls.map((call) => ({
        type: "function_call",
        call_id: call.id,
        ...(call.item !== undefined && { id: call.item }),
        name: "f",
        arguments: JSON.stringify(told(call)),
      })),
      ...results.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output })),
    ],
  ],
  [
    "AI SDK model",
    ({ calls, results }, n) => [
      { role: "user", content: [{ type: "text", text: `prompt ${n}` }] },
      {
        role: "assistant",
        content: calls.map((call) => ({
          type: "tool-call",
          toolCallId: call.id,
          toolName: "f",
          input: told(call),
          providerOptions: withItem(call),
        })),
      },
      {
        role: "tool",
        content: results.map(({ id, output }) => ({
          type: "tool-result",
          toolCallId: id,
          toolName: "f",
          output: { type: "text", value: output },
        })),
      },
    ],
  ],
  [
    "AI SDK UI",
    ({ calls }, n) => [
      { id: `u${n}`, role: "user", parts: [{ type: "text", text: `prompt ${n}` }] },
      {
        id: `a${n}`,
        role: "assistant",
        parts: calls.map((call) => ({
          type: "tool-f",
          toolCallId: call.id,
          input: told(call),
          callProviderMetadata: withItem(call),
          ...(call.output === undefined
            ? { state: "input-available" }
            : { state: "output-available", output: call.output }),
        })),
      },
    ],
  ],
  [
    "Anthropic",
    ({ calls, results }, n) => [
      { role: "user", content: `prompt ${n}` },
      {
        role: "assistant",
        content: calls.map((call) => ({ type: "tool_use", id: call.id, name: "f", input: told(call) })),
      },
      {
        role: "user",
        content: results.map(({ id, output }) => ({ type: "tool_result", tool_use_id: id, content: output })),
      },
    ],
  ],
  [
    "OpenAI Chat",
    ({ calls, results }, n) => [
      { role: "user", content: `prompt ${n}` },
      {
        role: "assistant",
        content: null,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: "function",
          function: { name: "f", arguments: JSON.stringify(told(call)) },
        })),
      },
      ...results.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
    ],
  ],
  [
    "Bedrock",
    ({ calls, results }, n) => [
      { role: "user", content: [{ text: `prompt ${n}` }] },
      {
        role: "assistant",
        content: calls.map((call) => ({ toolUse: { toolUseId: call.id, name: "f", input: told(call) } })),
      },
      {
        role: "user",
        content: results.map(({ id, output }) => ({
          toolResult: { toolUseId: id, content: [{ text: output }] },
        })),
      },
    ],
  ],
  [
    "Gemini",
    ({ calls, results }, n) => [
      { role: "user", parts: [{ text: `prompt ${n}` }] },
      { role: "model", parts: calls.map(geminiCall) },
      { role: "user", parts: results.map(geminiResponse) },
    ],
  ],
];

function messagesSession(all: readonly Turn[], spell: Spelling): ImportedSession[] {
  const document = all.flatMap(spell);
  const session = importMessages({ document, sourceId: "chat", startedAt: importedAt, importedAt });
  return [session ?? []].flat();
}

const IMPORTERS: readonly (readonly [
  name: string,
  importTurns: (all: readonly Turn[]) => ImportedSession[],
])[] = [
  ["OpenCode", openCodeSession],
  ["Codex", codexSession],
  ["Claude Code", claudeSession],
  ["Copilot CLI", copilotSession],
  ["a subagent of Copilot CLI", (all) => copilotSession(all, "a1")],
  ["Gemini CLI, by records", (all) => geminiSession(all, true)],
  ["Gemini CLI, by parts", (all) => geminiSession(all, false)],
  ["Qwen Code", qwenSession],
  ["Kimi Code", kimiSession],
  ["Cline", (all) => clineSession(all, "id")],
  ["Cline, by the id of the call", (all) => clineSession(all, "call_id")],
  ["version 4 of pi", pi4Session],
  ...SPELLINGS.map(
    ([form, spell]) =>
      [`messages of ${form}`, (all: readonly Turn[]) => messagesSession(all, spell)] as const,
  ),
];

test.each(IMPORTERS)(
  "%s: every call with a result in the source has it in the context, by its whole id",
  (_, importTurns) => {
    fc.assert(
      fc.property(turns, (all) => {
        const [session] = importTurns(all);
        if (session === undefined) throw new Error("no session was made");
        const { messages, problems } = readView(session);
        expect(problems).toEqual([]);
        const expected = all
          .flatMap(({ calls }) => calls)
          .map(({ id, output = "none" }) => `${id}: ${output}`);
        expect(pairsIn(messages)).toEqual(expected);
        const repaired = repairToolPairs(messages);
        expect(pairsIn(repaired.messages).map((one) => one.replace(/The tool call was .*/, "none"))).toEqual(
          expected,
        );
        expect(repaired.repairs.filter(({ kind }) => kind !== "resultMade")).toEqual([]);
      }),
    );
  },
);

/** Lists the calls in a context by their inputs, each with its result. */
function pairsIn(messages: readonly object[]): string[] {
  const all = messages.map((message): { [field: string]: unknown } => ({ ...message }));
  return all.flatMap(({ content }) => {
    const blocks: unknown[] = Array.isArray(content) ? content : [];
    return blocks.flatMap((block) => {
      const { type, id, arguments: args } = Object(block);
      if (type !== "toolCall") return [];
      const results = all.filter(({ toolCallId }) => toolCallId === id);
      const texts = results.flatMap((one) => (Array.isArray(one["content"]) ? one["content"] : []));
      return [`${args.of}: ${texts.map(({ text }) => text).join(" and ") || "none"}`];
    });
  });
}
