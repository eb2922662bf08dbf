import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { z } from "zod";
import { buildSessionContext } from "../../../../src/core/context/session-context.ts";
import { repairToolPairs } from "../../../../src/core/context/tool-pairs.ts";
import { isKnownEntry, type SessionMessageEntry } from "../../../../src/core/format/entry.ts";
import type { AssistantMessage, ToolResultMessage } from "../../../../src/core/format/message.ts";
import { encodeRecord } from "../../../../src/core/jsonl/encode.ts";
import { readSession } from "../../../../src/core/jsonl/read-session.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";

const result = z.object({
  id: z.string(),
  is_error: z.boolean().nullish(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]),
});

const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  encrypted_content_length: z.number().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  result: result.nullish(),
});

const cached = z.object({ cached_tokens: z.number() }).optional();

/** Token counts of servers and sums over them, converted to a usage: input excludes cache reads. */
const tokens = z
  .object({
    input_tokens: z.number().optional(),
    prompt_tokens: z.number().optional(),
    output_tokens: z.number().optional(),
    completion_tokens: z.number().optional(),
    cache_creation_input_tokens: z.number().optional(),
    cache_read_input_tokens: z.number().optional(),
    cached_tokens: z.number().optional(),
    input_tokens_details: cached,
    prompt_tokens_details: cached,
  })
  .transform((told) => {
    const details = told.input_tokens_details ?? told.prompt_tokens_details;
    const inInput = told.cached_tokens ?? details?.cached_tokens ?? 0;
    return {
      input: (told.input_tokens ?? told.prompt_tokens ?? 0) - inInput,
      output: told.output_tokens ?? told.completion_tokens ?? 0,
      cacheRead: told.cache_read_input_tokens ?? inInput,
      cacheWrite: told.cache_creation_input_tokens ?? 0,
    };
  });

const call = z.object({
  messageId: z.string().nullable(),
  model: z.string(),
  httpStatus: z.number().nullable(),
  completeStream: z.boolean().nullable(),
  /** Null where the program does not record it. */
  session: z.string().nullable(),
  agent: z.string().nullable(),
  blocks: z.array(block),
  usage: tokens.nullish(),
});

const total = z.object({ completed: z.number(), usage: tokens });

const truthSchema = z.object({
  program: z.string(),
  version: z.string(),
  case: z.string(),
  cwd: z.string(),
  files: z.array(z.string()),
  sessions: z.array(z.string()),
  prompts: z.array(
    z.object({
      id: z.string(),
      text: z.string(),
      final: z.boolean(),
      reachedModel: z.boolean(),
      session: z.string(),
      calls: z.array(call),
    }),
  ),
  sessionPaths: z.record(z.string(), z.array(z.string())),
  forkedFrom: z
    .object({
      sharedPrompts: z.array(z.string()),
      forkSession: z.string(),
      originalSession: z.string(),
    })
    .nullable(),
  compactions: z.array(
    z.object({ call: call.nullish(), summary: z.string(), applied: z.boolean().default(true) }),
  ),
  subagents: z.array(z.object({ id: z.string().nullable(), calls: z.array(call) })),
  /** Calls for which the program records only tokens. */
  sideCalls: z.array(call).default([]),
  totals: z.object({
    main: total,
    mainFinalPath: total.optional(),
    subagent: total,
    compact: total,
    side: total.optional(),
    all: total,
  }),
});

/** A program's actual behavior, as its server saw it. */
export type Truth = z.infer<typeof truthSchema>;

type Call = z.infer<typeof call>;

export function readTruth(path: string): Truth {
  return asTold(truthSchema.parse(JSON.parse(readFileSync(path, "utf8"))));
}

/** Omits what a program does not write. */
function asTold(truth: Truth): Truth {
  const { prompts, totals, subagents, sideCalls } = truth;
  if (truth.program === "qwen-code" && totals.side !== undefined) {
    const compact = { ...totals.compact, usage: addUsage([totals.compact, totals.side]) };
    const all = [...subagents.flatMap(({ calls }) => calls), ...sideCalls];
    return { ...truth, subagents: [], sideCalls: all, totals: { ...totals, compact } };
  }
  if (truth.program !== "copilot-cli") return { ...truth, sideCalls: [] };
  const { mainFinalPath: main = totals.main } = totals;
  return {
    ...truth,
    prompts: prompts.filter(({ final }) => final),
    sideCalls: [],
    totals: { ...totals, main },
  };
}

/** Sums tokens. */
function addUsage(totals: readonly { usage: z.infer<typeof tokens> }[]) {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { usage } of totals) for (const name of NAMES) sum[name] += usage[name];
  return sum;
}

const NAMES = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** Content that a program does not write, or that was torn off. */
export interface Tolerance {
  /** Whether the program may keep nothing of an interrupted answer. */
  readonly broken: boolean;
  /** Whether the last line is cut in half, and its content missing. */
  readonly torn: boolean;
}

/** Compares imported sessions with the program's actual behavior. */
export function expectTruth(sessions: readonly ImportedSession[], truth: Truth): void {
  const broken = !["claude-code", "codex"].includes(truth.program);
  const tolerance = { broken, torn: truth.case.includes("torn") };
  const views = sessions.map(makeView);
  for (const view of views) {
    expect.soft(view.read.issues, "the session reads without issues").toEqual([]);
    expect.soft(view.read.leafId).toBe(view.session.leafId);
    if (!tolerance.torn) expect.soft(view.repairs, "tool pairs are whole").toEqual([]);
  }
  expectPaths(views, truth);
  expectCalls(views, truth, tolerance);
  expectCompactions(views, truth);
  expectTotals(views, truth, tolerance);
}

type View = ReturnType<typeof makeView>;

function makeView(session: ImportedSession) {
  const text = [session.header, ...session.entries].map((record) => `${encodeRecord(record)}\n`).join("");
  const read = readSession(text);
  const entries = read.entries.filter(isKnownEntry);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: typeof entries = [];
  for (let at = read.leafId === null ? undefined : byId.get(read.leafId); at !== undefined; ) {
    path.unshift(at);
    at = at.parentId === null ? undefined : byId.get(at.parentId);
  }
  const context = buildSessionContext(entries, read.leafId);
  return { session, read, entries, byId, path, repairs: repairToolPairs(context.messages).repairs };
}

function promptTexts(entries: readonly { type: string }[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message") return [];
    const { message } = entry as SessionMessageEntry;
    if (message.role !== "user") return [];
    const text =
      typeof message.content === "string"
        ? message.content
        : message.content.map((one) => (one.type === "text" ? one.text : "")).join("");
    // Qwen Code adds files that the user names.
    const [typed = ""] = text.split(/ @\S+\n--- Content from referenced files/);
    return typed.startsWith("[Request interrupted by user") ? [] : [typed];
  });
}

function expectPaths(views: readonly View[], truth: Truth): void {
  const getText = (id: string) => truth.prompts.find((prompt) => prompt.id === id)?.text;
  for (const [sessionId, prompts] of Object.entries(truth.sessionPaths)) {
    const view = views.find(({ session }) => session.sourceId === sessionId);
    const inherited = sessionId === truth.forkedFrom?.forkSession ? truth.forkedFrom.sharedPrompts : [];
    expect
      .soft(promptTexts(view?.path ?? []), "the prompts on the final path")
      .toEqual([...inherited, ...prompts].map(getText));
    const all = truth.prompts.filter(({ session }) => session === sessionId).map(({ text }) => text);
    expect
      .soft(promptTexts(view?.entries ?? []).sort(), "all prompts")
      .toEqual([...inherited.map(getText), ...all].sort());
  }
}

function expectCalls(views: readonly View[], truth: Truth, { broken, torn }: Tolerance): void {
  const calls = [...truth.prompts, ...truth.subagents].flatMap((one) => one.calls);
  const completed = calls.filter(({ httpStatus, messageId }) => httpStatus === 200 && messageId !== null);
  for (const one of completed) {
    const all = views.filter((view) => isHome(view, one));
    const found = all.flatMap((home) =>
      home.entries
        .flatMap(findAssistant)
        .filter((message) => isAnswer(message, one))
        .map((message) => ({ home, message })),
    );
    const isLast = torn && one === completed.at(-1);
    if (isLast && found.length === 0) continue;
    if (broken && !isComplete(one)) continue;
    expect.soft(found.length, `${one.messageId} is one message`).toBe(1);
    for (const { home, message } of found) expectCall(home, message, one, isLast);
  }
  for (const view of views) {
    const answers = view.entries.flatMap(findAssistant);
    const ids = answers.flatMap(({ responseId }) => responseId ?? []);
    expect.soft(new Set(ids).size, "no response twice").toBe(ids.length);
    const known = new Set(calls.map(({ messageId }) => messageId));
    expect
      .soft(
        ids.filter((id) => !known.has(id)),
        "only responses of known calls",
      )
      .toEqual([]);
    const own = calls.filter((one) => one.session !== null && isHome(view, one) && isComplete(one));
    expect.soft(answers.length).toBeGreaterThanOrEqual(torn ? 0 : own.length);
  }
}

/** Returns whether a call was made in a session, as far as the program records it: else, it may be any subagent's. */
function isHome({ session: { sourceId, parent } }: View, { agent, session }: Call): boolean {
  if (agent !== null) return sourceId.endsWith(agent);
  return session === null ? parent?.relation === "subagent" : sourceId === session;
}

/** Returns whether a message is a call's answer, by its id, else by its texts and call ids: not every program names responses. */
function isAnswer(message: AssistantMessage, one: Call): boolean {
  return message.responseId === undefined ? saysSame(message, one) : message.responseId === one.messageId;
}

function isComplete({ completeStream, httpStatus }: Call): boolean {
  return completeStream === true && httpStatus === 200;
}

function findAssistant(entry: { type: string }): AssistantMessage[] {
  if (entry.type !== "message") return [];
  const { message } = entry as SessionMessageEntry;
  return message.role === "assistant" ? [message] : [];
}

function saysSame(message: AssistantMessage, { blocks }: Call): boolean {
  return (
    JSON.stringify(spoken(message)) ===
    JSON.stringify(
      blocks.map(({ type, text, thinking, id }) =>
        type === "text" ? text : type === "thinking" ? thinking : id,
      ),
    )
  );
}

function spoken({ content }: AssistantMessage): (string | undefined)[] {
  return content.map((one) =>
    one.type === "text" ? one.text : one.type === "thinking" ? one.thinking : one.id.split("|")[0],
  );
}

function expectCall(home: View | undefined, message: AssistantMessage, one: Call, isTorn: boolean): void {
  expect.soft(message.model).toBe(one.model);
  if (isTorn) return;
  expect
    .soft(message.content.map(({ type }) => type))
    .toEqual(
      one.blocks.map(({ type }) =>
        type === "tool_use" ? "toolCall" : type === "redacted_thinking" ? "thinking" : type,
      ),
    );
  one.blocks.forEach((expected, i) => {
    const made = message.content[i];
    if (made?.type === "text") expect.soft(made.text).toBe(expected.text);
    if (made?.type === "thinking" && expected.type === "thinking") {
      expect.soft(made.thinking).toBe(expected.thinking);
      if (expected.signature !== undefined) expect.soft(made.thinkingSignature).toBe(expected.signature);
      if (expected.encrypted_content_length !== undefined) {
        const item = z
          .object({ encrypted_content: z.string() })
          .parse(JSON.parse(made.thinkingSignature ?? "{}"));
        expect.soft(item.encrypted_content.length).toBe(expected.encrypted_content_length);
      }
    }
    if (made?.type !== "toolCall") return;
    expect.soft(made.id.split("|")[0]).toBe(expected.id);
    expect.soft(made.name).toBe(expected.name);
    const input = typeof expected.input === "string" ? { input: expected.input } : expected.input;
    expect.soft(made.arguments).toEqual(input);
    if (expected.result != null) expectResult(home, made.id, expected.result);
  });
  if (one.usage != null) expect.soft(getTokens(message.usage)).toEqual(one.usage);
}

/** Text that Kimi Code puts before a result when it sends it. */
const ADDED_BY_KIMI =
  /^(?:Wall time: [\d.]+ seconds\n)?(?:<system>ERROR: Tool execution failed\.<\/system>\n)?/;

function expectResult(home: View | undefined, id: string, expected: z.infer<typeof result>): void {
  const results = (home?.entries ?? []).flatMap((entry): ToolResultMessage[] =>
    entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolCallId === id
      ? [entry.message]
      : [],
  );
  expect.soft(results.length, `the result of ${id}`).toBe(1);
  const [made] = results;
  if (made === undefined) return;
  if (expected.is_error != null) expect.soft(made.isError).toBe(expected.is_error);
  const text = made.content.map((one) => (one.type === "text" ? one.text : "")).join("");
  const { content } = expected;
  const parts = typeof content === "string" ? [content] : content.map((one) => one.text ?? "");
  const sent = parts.filter((part) => !part.startsWith("<system-reminder>")).join("");
  // Copilot records only why a call failed, not all that it sent.
  if (made.details !== undefined && "errorCode" in Object(made.details)) {
    expect.soft(text).not.toBe("");
    return;
  }
  // What the program added to a result when it sent it is not part of its stored result.
  const [unreminded = ""] = sent.split("\n\n<system-reminder>");
  const kept = home?.session.source === "kimi" ? unreminded.replace(ADDED_BY_KIMI, "") : unreminded;
  expect.soft(text.trimEnd()).toBe(kept.trimEnd());
  // Chat Completions, whose results cannot mark failures either, take images after them.
  if (expected.is_error === null) return;
  const images = typeof content === "string" ? [] : content.filter(({ type }) => type.includes("image"));
  expect.soft(made.content.filter(({ type }) => type === "image").length).toBe(images.length);
}

function getTokens(usage: AssistantMessage["usage"]) {
  const { input, output, cacheRead, cacheWrite } = usage;
  return { input, output, cacheRead, cacheWrite };
}

function expectCompactions(views: readonly View[], truth: Truth): void {
  const made = views.flatMap(({ entries }) => entries.filter(({ type }) => type === "compaction"));
  const applied = truth.compactions.filter((one) => one.applied);
  expect.soft(made.length, "compactions").toBe(applied.length);
  applied.forEach(({ summary }, i) => {
    const [, inner = summary] = /<summary>\s*([\s\S]*?)\s*<\/summary>/.exec(summary) ?? [];
    const entry = made[i];
    expect.soft(entry?.type === "compaction" && entry.summary).toContain(inner);
  });
}

function expectTotals(views: readonly View[], truth: Truth, { torn }: Tolerance): void {
  if (torn) return;
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const seen = new Set<string>();
  for (const { entries } of views) {
    for (const entry of entries) {
      if (seen.has(entry.id)) continue;
      seen.add(entry.id);
      const usages = entry.type === "compaction" && entry.usage ? [entry.usage] : [];
      if (entry.type === "usage") usages.push(entry.usage);
      for (const usage of [...usages, ...findAssistant(entry).map((message) => message.usage)]) {
        for (const name of NAMES) sum[name] += usage[name];
      }
    }
  }
  const { main, subagent, compact } = truth.totals;
  expect.soft(sum).toEqual(addUsage([main, subagent, compact]));
}
