import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  UNKNOWN_NAME,
  type UserMessage,
} from "../../../core/format/message.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { assistantMessage, toUsage } from "../../convert/answer.ts";
import { parseDataUrl } from "../../convert/images.ts";
import {
  addBlocks,
  endAnswer,
  makeCustom,
  makeCustomMessage,
  makeSubagentLink,
  makeThinkingChange,
  makeToolResult,
  makeUsageEntry,
  toFilled,
} from "../entry-bodies.ts";
import { EntryThread, type ThreadState } from "../entry-thread.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { type SourceRecord, toNonemptyText } from "../source-text.ts";
import {
  type CallOutcome,
  type CodexCall,
  classifyItem,
  convertAnswerItem,
  convertInput,
  findCallArguments,
  getCallId,
  getItemType,
  readProgramText,
  toResult,
} from "./response-items.ts";

/** State shared by all files of a session. */
export interface SessionContext {
  readonly builder: SessionBuilder;
  readonly provider: string | undefined;
  readonly outcomes: ReadonlyMap<string, CallOutcome>;
  /** Calls by the id that their results refer to. */
  readonly calls: Map<string, CodexCall>;
}

/** Adds the entries of a thread, in order. */
export class ThreadWriter extends EntryThread {
  readonly #context: SessionContext;
  /** The unfinished answer, which later items extend. */
  #open: Answer | undefined;
  /** The last answer, whether finished or not. */
  #last: Answer | undefined;
  /** State before the current turn, if known, and whether the turn contains a user prompt. */
  #turn: { before: ThreadState; isUsers: boolean } | undefined;

  constructor(context: SessionContext, start: ThreadState) {
    super(context.builder, start);
    this.#context = context;
  }

  startTurn(): void {
    this.closeAnswer();
    this.#turn = { before: this.state, isUsers: false };
  }

  /** Closes the last answer so that tokens reported later are not assigned to it. */
  closeAnswer(): void {
    this.#open = undefined;
    this.#last = undefined;
  }

  keepItem({ value }: SourceRecord, type: string, data: JsonRecord): void {
    this.keep(this.makeKey(data), value["timestamp"], type || "record", data);
  }

  addToAnswer({ value }: SourceRecord, item: JsonRecord): void {
    const { provider, calls } = this.#context;
    const time = value["timestamp"];
    let answer = this.#open;
    if (answer === undefined) {
      const before = this.state;
      const message = makeEmptyAnswer({ provider, model: before.model }, 0);
      const draft = this.addMessage(this.makeKey(item), time, message);
      answer = { draft, message, before, isCounted: false };
      this.#open = answer;
      this.#last = answer;
    }
    const blocks = convertAnswerItem(item);
    addBlocks(answer.message, blocks);
    for (const block of blocks) {
      if (block.type !== "toolCall") continue;
      calls.set(toNonemptyText(item["call_id"]) ?? block.id, { id: getCallId(item), name: block.name });
      if (findCallArguments(item) !== undefined || item["arguments"] === undefined) continue;
      const data = { toolCallId: block.id, arguments: item["arguments"] };
      this.add(`${this.makeKey(item)} arguments`, time, makeCustom("codex.arguments", data));
    }
  }

  addResult({ value }: SourceRecord, item: JsonRecord): void {
    const { calls, outcomes } = this.#context;
    const time = value["timestamp"];
    this.#open = undefined;
    const named = toNonemptyText(item["call_id"]) ?? "";
    const call = calls.get(named);
    const outcome = outcomes.get(named);
    const { content, isError, details } = toResult(item);
    const toolCallId = call?.id ?? named;
    const result = makeToolResult({
      toolCallId,
      toolName: call?.name ?? toNonemptyText(item["name"]) ?? "unknown",
      content,
      details: toFilled({ ...details, ...outcome?.details }),
      isError: isError === true || outcome?.isError === true,
    });
    this.addMessage(this.makeKey(item), time, result);
    const agentId = findStartedAgent(getTexts(content).join(""));
    if (agentId === undefined) return;
    this.add(`codex agent ${agentId}`, time, makeSubagentLink({ agentId, toolCallId, sessionId: agentId }));
  }

  addPrompt(record: SourceRecord, key: string, content: UserMessage["content"]): void {
    this.#open = undefined;
    this.#beginUsersTurn();
    this.say(key, record.value["timestamp"], content);
  }

  /** Records that the turn contains a user prompt, so that the turn can be rolled back. */
  #beginUsersTurn(): void {
    if (this.#turn?.isUsers === true) return;
    this.beginTurn(this.#turn?.before);
    if (this.#turn !== undefined) this.#turn.isUsers = true;
  }

  /** Adds a report from Codex or from another agent. The model sees it. */
  note(record: SourceRecord, item: JsonRecord, kind: string): void {
    this.#open = undefined;
    const body = makeCustomMessage(`codex.${kind}`, convertInput(item["content"]), true);
    this.add(this.makeKey(item), record.value["timestamp"], body);
  }

  /** Keeps text that Codex itself wrote. */
  keepText(record: SourceRecord, item: JsonRecord, kind: string): void {
    this.#open = undefined;
    const content = convertInput(item["content"]);
    this.keep(this.makeKey(item), record.value["timestamp"], kind, { content });
  }

  addImage(record: SourceRecord, item: JsonRecord): void {
    const { result, ...rest } = item;
    const image =
      parseDataUrl(result) ?? parseDataUrl(`data:image/png;base64,${toNonemptyText(result) ?? ""}`);
    this.#open = undefined;
    const content = toNonemptyText(result) === undefined || image === undefined ? [] : [image];
    const body = makeCustomMessage("codex.image_generation_call", content, true, rest);
    this.add(this.makeKey(item), record.value["timestamp"], body);
  }

  changeSettings({ value }: SourceRecord, { model: named, effort: asked }: JsonRecord): void {
    const model = toNonemptyText(named);
    const effort = toNonemptyText(asked);
    const { provider = "openai-codex" } = this.#context;
    const parentId = this.state.tip?.id ?? "start";
    if (model !== undefined && model !== this.state.model) {
      const body = { type: "model_change", provider, modelId: model };
      this.add(`codex model ${model} ${parentId}`, value["timestamp"], body);
      this.state = { ...this.state, model };
    }
    if (effort !== undefined && effort !== this.state.effort) {
      this.add(`codex effort ${effort} ${parentId}`, value["timestamp"], makeThinkingChange(effort));
      this.state = { ...this.state, effort };
    }
  }

  rollBack(turns: unknown): void {
    this.closeAnswer();
    this.#turn = undefined;
    this.goBack(typeof turns === "number" ? turns : 0);
  }

  endTurn(reason: "aborted" | "error", error?: unknown): void {
    const answer = this.#last;
    this.#open = undefined;
    if (answer === undefined || this.state.tip !== answer.draft) return;
    if (reason === "aborted") endAnswer(answer.message, "aborted");
    if (reason === "error" && error !== undefined && error !== null) {
      const message =
        toNonemptyText(toRecord(error)["message"]) ?? toNonemptyText(error) ?? encodeParsed(error);
      endAnswer(answer.message, "error", message);
    }
  }

  /** Counts the tokens of a call. The token record follows the call's answer. */
  count(record: SourceRecord, tokens: JsonRecord, responseId: string | undefined, isCopied: boolean): void {
    const usage = convertTokens(tokens);
    const answer = this.#last;
    this.#open = undefined;
    if (answer !== undefined && !answer.isCounted) {
      answer.isCounted = true;
      if (!isCopied) answer.message.usage = usage;
      if (responseId !== undefined) answer.message.responseId = responseId;
    } else if (!isCopied && usage.totalTokens > 0) {
      // The answer itself is missing, which happens when the user interrupts it.
      const { provider = "openai-codex" } = this.#context;
      const key = `codex usage ${responseId ?? encodeParsed(record.value)}`;
      const model = this.state.model ?? UNKNOWN_NAME;
      const body = makeUsageEntry("codex.response", provider, model, usage, responseId);
      this.add(key, record.value["timestamp"], body);
    }
    this.state = { ...this.state, contextTokens: usage.totalTokens };
  }

  compact(record: SourceRecord, payload: JsonRecord): void {
    const { provider, calls } = this.#context;
    const told = toNonemptyText(payload["message"]) ?? "";
    const call = this.#takeBackSummary(told);
    const timeMs = Date.parse(toNonemptyText(record.value["timestamp"]) ?? "");
    const timestamp = Number.isNaN(timeMs) ? 0 : timeMs;
    const { replacement_history: items } = payload;
    const replaced = readReplacement(items, told, { provider, model: this.state.model }, timestamp, calls);
    const hasItems = Array.isArray(items);
    const key = this.makeKey({ id: payload["compaction_response_id"], message: told });
    this.add(key, record.value["timestamp"], {
      type: "compaction",
      summary: told || replaced.summary || "Context compacted by Codex.",
      firstKeptEntryId: undefined,
      tokensBefore: this.state.contextTokens,
      details: {
        source: "codex",
        ...(call?.responseId !== undefined && { responseId: call.responseId }),
        ...(replaced.isOpaque && { codex: { replacementHistory: items } }),
      },
      ...(call !== undefined && call.usage.totalTokens > 0 && { usage: call.usage }),
      retainedTail: hasItems ? replaced.messages : this.saidInOrder(),
    });
  }

  /** Removes the answer that was turned into the summary. Until then, it is part of the thread like any other answer. */
  #takeBackSummary(told: string): Answer["message"] | undefined {
    const answer = this.#last;
    this.#open = undefined;
    this.#last = undefined;
    if (answer === undefined || answer.draft !== this.state.tip || !isText(answer.message)) return undefined;
    const text = getTexts(answer.message.content).join("").trim();
    if (text === "" || !told.trim().endsWith(text) || !this.builder.takeBack(answer.draft)) {
      return undefined;
    }
    this.state = answer.before;
    return answer.message;
  }

  /** Derives a record's key from its item's id, or from its content, plus the number of equal records that precede it. */
  makeKey(item: JsonRecord): string {
    const id = toNonemptyText(item["id"]);
    return this.builder.numbered(`codex ${id ?? encodeParsed(item)}`);
  }
}

/** Reads the id of the agent that a call started from the call's output; undefined if the call did not start one. */
function findStartedAgent(output: string): string | undefined {
  // Most outputs are not JSON, and trying to parse them takes longer than everything else.
  const isLikely = output.startsWith("{") && output.includes('"agent_id"');
  return isLikely ? toNonemptyText(toRecord(parseJson(output)?.value)["agent_id"]) : undefined;
}

/**
 * Converts the history that remains after a compaction.
 *
 * @param knownCalls - The thread's calls by the id that results refer to. Their ids are preserved, because results may follow
 *   later.
 * @returns The messages to keep; the text of the item that looks like the summary, empty if there is none; and whether the
 *   history includes an item that only its provider can read.
 */
function readReplacement(
  items: unknown,
  summary: string,
  model: AnsweringModel,
  timestamp: number,
  knownCalls: ReadonlyMap<string, CodexCall>,
): { readonly messages: AgentMessage[]; readonly summary: string; readonly isOpaque: boolean } {
  const reader = new ReplacementReader(model, timestamp, knownCalls);
  const all = toArray(items).map(toRecord);
  const userTexts = all.map((item) =>
    classifyItem(item) === "user" ? getTexts(convertInput(item["content"])).join("") : "",
  );
  // The summary comes last. An earlier prompt with the same text is an ordinary prompt.
  const at = summary === "" ? -1 : userTexts.lastIndexOf(summary);
  for (const [i, item] of all.entries()) if (i !== at) reader.take(item);
  const found = summary === "" ? (userTexts.findLast((text) => text !== "") ?? "") : summary;
  return { messages: reader.messages, summary: found, isOpaque: reader.isOpaque };
}

class ReplacementReader {
  readonly messages: AgentMessage[] = [];
  isOpaque = false;
  readonly #model: AnsweringModel;
  readonly #timestamp: number;
  readonly #calls: Map<string, CodexCall>;
  #answer: AssistantMessage | undefined;

  constructor(model: AnsweringModel, timestamp: number, knownCalls: ReadonlyMap<string, CodexCall>) {
    this.#calls = new Map(knownCalls);
    this.#model = model;
    this.#timestamp = timestamp;
  }

  take(item: JsonRecord): void {
    const role = classifyItem(item);
    if (role === "answer") {
      this.#addAnswer(item);
      return;
    }
    if (role === "opaque") this.isOpaque = true;
    const message = this.#toMessage(role, item);
    if (message === undefined) return;
    this.#answer = undefined;
    this.messages.push(message);
  }

  #addAnswer(item: JsonRecord): void {
    if (this.#answer === undefined) {
      this.#answer = makeEmptyAnswer(this.#model, this.#timestamp);
      this.messages.push(this.#answer);
    }
    const blocks = convertAnswerItem(item);
    for (const block of blocks) {
      if (block.type !== "toolCall") continue;
      const named = toNonemptyText(item["call_id"]) ?? block.id;
      const { id = block.id } = this.#calls.get(named) ?? {};
      block.id = id;
      this.#calls.set(named, { id, name: block.name });
    }
    addBlocks(this.#answer, blocks);
  }

  #toMessage(role: ReturnType<typeof classifyItem>, item: JsonRecord): AgentMessage | undefined {
    const timestamp = this.#timestamp;
    if (role === "result") {
      const named = toNonemptyText(item["call_id"]) ?? "";
      const { id: toolCallId = named, name: toolName = "unknown" } = this.#calls.get(named) ?? {};
      const { content, isError = false } = toResult(item);
      return { role: "toolResult", toolCallId, toolName, content, isError, timestamp };
    }
    if (role !== "user" && role !== "agent") return undefined;
    const content = convertInput(item["content"]);
    const own = role === "user" ? readProgramText(getTexts(content).join("")) : undefined;
    if (role === "user" && own === undefined) return { role: "user", content, timestamp };
    // Codex's own texts are not part of any context.
    if (own?.isReport === false) return undefined;
    const customType = `codex.${own?.kind ?? getItemType(item)}`;
    return { role: "custom", customType, content, display: true, timestamp };
  }
}

/** An unfinished answer. Its usage follows later. */
interface Answer {
  readonly draft: Draft;
  readonly message: AssistantMessage;
  readonly before: ThreadState;
  /** Whether the answer's usage is known. */
  isCounted: boolean;
}

/** Provider and model of an answer. */
interface AnsweringModel {
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** Creates an answer without content blocks. */
function makeEmptyAnswer({ provider, model }: AnsweringModel, timestamp: number): AssistantMessage {
  return assistantMessage([], {
    api: provider === undefined ? "openai-codex-responses" : "openai-responses",
    provider: provider ?? "openai-codex",
    model: model ?? UNKNOWN_NAME,
    timestamp,
  });
}

/** Returns whether an answer has content but no tool calls. */
function isText(message: AssistantMessage): boolean {
  return message.content.length > 0 && message.content.every(({ type }) => type !== "toolCall");
}

/** Converts a call's token counts. The source's input count includes cache reads and writes. */
function convertTokens(tokens: JsonRecord): Usage {
  return toUsage({
    inputWithCache: tokens["input_tokens"],
    output: tokens["output_tokens"],
    cacheRead: tokens["cached_input_tokens"],
    cacheWrite: tokens["cache_write_input_tokens"],
    reasoning: tokens["reasoning_output_tokens"],
    total: tokens["total_tokens"],
  });
}
