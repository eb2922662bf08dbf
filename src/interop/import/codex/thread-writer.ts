import { textsOf } from "../../../core/context/content-text.ts";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME, type UserMessage } from "../../../core/format/message.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { imageOfDataUrl } from "../../convert/images.ts";
import {
  custom,
  customMessage,
  ifFilled,
  subagentLink,
  thinkingChange,
  toolResult,
  usageEntry,
} from "../entry-bodies.ts";
import { EntryThread, type ThreadState } from "../entry-thread.ts";
import { addBlocks, endAnswer } from "../open-answer.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { textOf } from "../source-values.ts";
import { type Answer, emptyAnswer, isText, usageOfTokens } from "./answer.ts";
import { readReplacement } from "./replacement-history.ts";
import {
  answerBlocks,
  type CallOutcome,
  callArguments,
  callId,
  inputBlocks,
  resultOf,
} from "./response-items.ts";

/** State that all files of a session share. */
export interface SessionContext {
  readonly builder: SessionBuilder;
  readonly provider: string | undefined;
  readonly outcomes: ReadonlyMap<string, CallOutcome>;
  /** Calls by the id that their results refer to: full id and tool. */
  readonly calls: Map<string, { id: string; name: string }>;
}

/** Makes the entries of a thread, one after the other. */
export class ThreadWriter extends EntryThread {
  readonly #context: SessionContext;
  /** The unfinished answer, to which items are still added. */
  #open: Answer | undefined;
  /** The last answer, finished or not. */
  #last: Answer | undefined;
  /** Start of the turn, if known, and whether the user has said anything in it. */
  #turn: { before: ThreadState; isUsers: boolean } | undefined;

  constructor(context: SessionContext, start: ThreadState) {
    super(context.builder, start);
    this.#context = context;
  }

  startTurn(): void {
    this.#open = undefined;
    this.#last = undefined;
    this.#turn = { before: this.state, isUsers: false };
  }

  keepItem({ value }: SourceRecord, type: string, data: JsonRecord): void {
    this.keep(this.keyOf(data), value["timestamp"], type || "record", data);
  }

  addToAnswer({ value }: SourceRecord, item: JsonRecord): void {
    const { provider, calls } = this.#context;
    const time = value["timestamp"];
    let answer = this.#open;
    if (answer === undefined) {
      const before = this.state;
      const message = emptyAnswer({ provider, model: before.model }, 0);
      const draft = this.addMessage(this.keyOf(item), time, message);
      answer = { draft, message, before, isCounted: false };
      this.#open = answer;
      this.#last = answer;
    }
    const blocks = answerBlocks(item);
    addBlocks(answer.message, blocks);
    for (const block of blocks) {
      if (block.type !== "toolCall") continue;
      calls.set(textOf(item["call_id"]) ?? block.id, { id: callId(item), name: block.name });
      if (callArguments(item) !== undefined || item["arguments"] === undefined) continue;
      const data = { toolCallId: block.id, arguments: item["arguments"] };
      this.add(`${this.keyOf(item)} arguments`, time, custom("codex.arguments", data));
    }
  }

  addResult({ value }: SourceRecord, item: JsonRecord): void {
    const { calls, outcomes } = this.#context;
    const time = value["timestamp"];
    this.#open = undefined;
    const named = textOf(item["call_id"]) ?? "";
    const call = calls.get(named);
    const outcome = outcomes.get(named);
    const { content, isError, details } = resultOf(item);
    const toolCallId = call?.id ?? named;
    const result = toolResult({
      toolCallId,
      toolName: call?.name ?? textOf(item["name"]) ?? "unknown",
      content,
      details: ifFilled({ ...details, ...outcome?.details }),
      isError: isError === true || outcome?.isError === true,
    });
    this.addMessage(this.keyOf(item), time, result);
    const agentId = startedAgentIn(textsOf(content).join(""));
    if (agentId === undefined) return;
    this.add(`codex agent ${agentId}`, time, subagentLink({ agentId, toolCallId, sessionId: agentId }));
  }

  addPrompt(record: SourceRecord, key: string, content: UserMessage["content"]): void {
    this.#open = undefined;
    this.#beginUsersTurn();
    this.say(key, record.value["timestamp"], content);
  }

  /** Records that the user said something, so that the turn can be rolled back. */
  #beginUsersTurn(): void {
    if (this.#turn?.isUsers === true) return;
    this.beginTurn(this.#turn?.before);
    if (this.#turn !== undefined) this.#turn.isUsers = true;
  }

  /** Adds a text that the user did not type where the model sees it. */
  note(record: SourceRecord, item: JsonRecord, customType: string, isShown: boolean): void {
    this.#open = undefined;
    const body = customMessage(customType, inputBlocks(item["content"]), isShown);
    this.add(this.keyOf(item), record.value["timestamp"], body);
  }

  addImage(record: SourceRecord, item: JsonRecord): void {
    const { result, ...rest } = item;
    const image = imageOfDataUrl(result) ?? imageOfDataUrl(`data:image/png;base64,${textOf(result) ?? ""}`);
    this.#open = undefined;
    const content = textOf(result) === undefined || image === undefined ? [] : [image];
    const body = customMessage("codex.image_generation_call", content, true, rest);
    this.add(this.keyOf(item), record.value["timestamp"], body);
  }

  changeSettings({ value }: SourceRecord, { model: named, effort: asked }: JsonRecord): void {
    const model = textOf(named);
    const effort = textOf(asked);
    const { provider = "openai-codex" } = this.#context;
    const parentId = this.state.tip?.id ?? "start";
    if (model !== undefined && model !== this.state.model) {
      const body = { type: "model_change", provider, modelId: model };
      this.add(`codex model ${model} ${parentId}`, value["timestamp"], body);
      this.state = { ...this.state, model };
    }
    if (effort !== undefined && effort !== this.state.effort) {
      this.add(`codex effort ${effort} ${parentId}`, value["timestamp"], thinkingChange(effort));
      this.state = { ...this.state, effort };
    }
  }

  rollBack(turns: unknown): void {
    this.#open = undefined;
    this.#last = undefined;
    this.#turn = undefined;
    this.goBack(typeof turns === "number" ? turns : 0);
  }

  endTurn(reason: "aborted" | "error", error?: unknown): void {
    const answer = this.#last;
    this.#open = undefined;
    if (answer === undefined || this.state.tip !== answer.draft) return;
    if (reason === "aborted") endAnswer(answer.message, "aborted");
    if (reason === "error" && error !== undefined && error !== null) {
      const message = textOf(fieldsOf(error)["message"]) ?? textOf(error) ?? encodeParsed(error);
      endAnswer(answer.message, "error", message);
    }
  }

  /** Counts the tokens of a call; they follow its answer. */
  count(record: SourceRecord, tokens: JsonRecord, responseId: string | undefined, isCopied: boolean): void {
    const usage = usageOfTokens(tokens);
    const answer = this.#last;
    this.#open = undefined;
    if (answer !== undefined && !answer.isCounted) {
      answer.isCounted = true;
      if (!isCopied) answer.message.usage = usage;
      if (responseId !== undefined) answer.message.responseId = responseId;
    } else if (!isCopied && usage.totalTokens > 0) {
      // The answer itself was lost, as happens when the user interrupts it.
      const { provider = "openai-codex" } = this.#context;
      const key = `codex usage ${responseId ?? encodeParsed(record.value)}`;
      const model = this.state.model ?? UNKNOWN_NAME;
      const body = usageEntry("codex.response", provider, model, usage, responseId);
      this.add(key, record.value["timestamp"], body);
    }
    this.state = { ...this.state, contextTokens: usage.totalTokens };
  }

  compact(record: SourceRecord, payload: JsonRecord): void {
    const { provider } = this.#context;
    const told = textOf(payload["message"]) ?? "";
    const call = this.#takeBackSummary(told);
    const timeMs = Date.parse(textOf(record.value["timestamp"]) ?? "");
    const timestamp = Number.isNaN(timeMs) ? 0 : timeMs;
    const { replacement_history: items } = payload;
    const replaced = readReplacement(items, told, { provider, model: this.state.model }, timestamp);
    const hasItems = Array.isArray(items);
    const key = this.keyOf({ id: payload["compaction_response_id"], message: told });
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

  /** Removes the answer that is the summary, which is in the thread like any other before it is used. */
  #takeBackSummary(told: string): Answer["message"] | undefined {
    const answer = this.#last;
    this.#open = undefined;
    this.#last = undefined;
    if (answer === undefined || answer.draft !== this.state.tip || !isText(answer.message)) return undefined;
    const text = textsOf(answer.message.content).join("").trim();
    if (text === "" || !told.trim().endsWith(text) || !this.builder.takeBack(answer.draft)) {
      return undefined;
    }
    this.state = answer.before;
    return answer.message;
  }

  /** Derives a record's key from its item's id, else from its content and the number of equal records before it. */
  keyOf(item: JsonRecord): string {
    const id = textOf(item["id"]);
    return this.builder.numbered(`codex ${id ?? encodeParsed(item)}`);
  }
}

/** Reads the id of the agent that a call started from the call's output; undefined if it started none. */
function startedAgentIn(output: string): string | undefined {
  // Most outputs are not JSON, and trying to parse them takes longer than all the rest.
  const isLikely = output.startsWith("{") && output.includes('"agent_id"');
  return isLikely ? textOf(fieldsOf(parseJson(output)?.value)["agent_id"]) : undefined;
}
