import { textsOf } from "../../context/content-text.ts";
import { fieldsOf } from "../../context/entry-fields.ts";
import { imageOfDataUrl } from "../../convert/images.ts";
import { parseJson } from "../../jsonl/decode.ts";
import { encodeParsed } from "../../jsonl/encode.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { UNKNOWN_NAME, type UserMessage } from "../../schema/message.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../imported-session.ts";
import { custom, type Draft, type EntryBody, type SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { isJsonValue, textOf } from "../source-values.ts";
import { beforeTurns, saidInOrder, type ThreadState } from "../thread-state.ts";
import { type Answer, addBlocks, emptyAnswer, endAnswer, isText, usageOfTokens } from "./answer.ts";
import type { CallOutcome } from "./outcomes.ts";
import { readReplacement } from "./replacement-history.ts";
import { answerBlocks, callArguments, callId, inputBlocks, resultOf } from "./response-items.ts";

/** State that all files of a session share. */
export interface SessionContext {
  readonly builder: SessionBuilder;
  readonly provider: string | undefined;
  readonly outcomes: ReadonlyMap<string, CallOutcome>;
  /** Calls by the id that their results refer to: full id and tool. */
  readonly calls: Map<string, { id: string; name: string }>;
  /** Number of records without an id seen so far, by content. */
  readonly seen: Map<string, number>;
}

/** Makes the entries of a thread, one after the other. */
export class ThreadWriter {
  state: ThreadState;
  readonly #context: SessionContext;
  /** The unfinished answer, to which items are still added. */
  #open: Answer | undefined;
  /** The last answer, finished or not. */
  #last: Answer | undefined;
  /** Start of the turn, if known, and whether the user has said anything in it. */
  #turn: { before: ThreadState; isUsers: boolean } | undefined;

  constructor(context: SessionContext, start: ThreadState) {
    this.#context = context;
    this.state = start;
  }

  /** Begins a turn. */
  beginTurn(): void {
    this.#open = undefined;
    this.#last = undefined;
    this.#turn = { before: this.state, isUsers: false };
  }

  keep(record: SourceRecord, type: string, data: JsonRecord): void {
    this.#add(this.keyOf(data), record, custom(`codex.${type || "record"}`, data));
    this.#context.builder.counts.kept++;
  }

  addToAnswer(record: SourceRecord, item: JsonRecord): void {
    const { builder, provider, calls } = this.#context;
    let answer = this.#open;
    if (answer === undefined) {
      const { model, tip } = this.state;
      const message = emptyAnswer({ provider, model }, 0);
      const draft = builder.addMessage(this.keyOf(item), tip, record.value["timestamp"], message);
      answer = { draft, message, before: this.state, isCounted: false };
      this.#open = answer;
      this.#last = answer;
      this.#moveTo(draft);
    }
    const blocks = answerBlocks(item);
    addBlocks(answer.message, blocks);
    for (const block of blocks) {
      if (block.type !== "toolCall") continue;
      calls.set(textOf(item["call_id"]) ?? block.id, { id: callId(item), name: block.name });
      if (callArguments(item) !== undefined || item["arguments"] === undefined) continue;
      const data = { toolCallId: block.id, arguments: item["arguments"] };
      this.#add(`${this.keyOf(item)} arguments`, record, custom("codex.arguments", data));
    }
  }

  addResult(record: SourceRecord, item: JsonRecord): void {
    const { builder, calls, outcomes } = this.#context;
    this.#open = undefined;
    const named = textOf(item["call_id"]) ?? "";
    const call = calls.get(named);
    const outcome = outcomes.get(named);
    const { content, isError, details } = resultOf(item);
    const all = { ...details, ...outcome?.details };
    const draft = builder.addMessage(this.keyOf(item), this.state.tip, record.value["timestamp"], {
      role: "toolResult",
      toolCallId: call?.id ?? named,
      toolName: call?.name ?? textOf(item["name"]) ?? "unknown",
      content,
      ...(Object.keys(all).length > 0 && isJsonValue(all) && { details: all }),
      isError: isError === true || outcome?.isError === true,
    });
    this.#moveTo(draft);
    const agentId = startedAgentIn(textsOf(content).join(""));
    if (agentId === undefined) return;
    const data = { agentId, toolCallId: call?.id ?? named, sessionId: agentId };
    this.#add(`codex agent ${agentId}`, record, custom(SUBAGENT_CUSTOM_TYPE, data));
  }

  addPrompt(record: SourceRecord, key: string, content: UserMessage["content"]): void {
    this.#open = undefined;
    this.#beginUsersTurn();
    const message: UserMessage = { role: "user", content, timestamp: 0 };
    const { tip, said: previous } = this.state;
    const draft = this.#context.builder.addMessage(key, tip, record.value["timestamp"], message);
    this.state = { ...this.state, tip: draft, said: { message, previous } };
  }

  /** Records that the user said something, so that the turn can be rolled back. */
  #beginUsersTurn(): void {
    if (this.#turn?.isUsers === true) return;
    const before = this.#turn?.before ?? this.state;
    this.state = { ...this.state, turns: { before, previous: before.turns } };
    if (this.#turn !== undefined) this.#turn.isUsers = true;
  }

  /** Adds a text that the user did not type where the model sees it. */
  note(record: SourceRecord, item: JsonRecord, customType: string, isShown: boolean): void {
    this.#open = undefined;
    const content = inputBlocks(item["content"]);
    this.#add(this.keyOf(item), record, { type: "custom_message", customType, content, display: isShown });
  }

  addImage(record: SourceRecord, item: JsonRecord): void {
    const { result, ...rest } = item;
    const image = imageOfDataUrl(result) ?? imageOfDataUrl(`data:image/png;base64,${textOf(result) ?? ""}`);
    this.#open = undefined;
    this.#add(this.keyOf(item), record, {
      type: "custom_message",
      customType: "codex.image_generation_call",
      content: textOf(result) === undefined || image === undefined ? [] : [image],
      display: true,
      details: rest,
    });
  }

  changeSettings(record: SourceRecord, { model: named, effort: asked }: JsonRecord): void {
    const model = textOf(named);
    const effort = textOf(asked);
    const { provider = "openai-codex" } = this.#context;
    const parentId = this.state.tip?.id ?? "start";
    if (model !== undefined && model !== this.state.model) {
      const body = { type: "model_change", provider, modelId: model };
      this.#add(`codex model ${model} ${parentId}`, record, body);
      this.state = { ...this.state, model };
    }
    if (effort !== undefined && effort !== this.state.effort) {
      const thinkingLevel = effort === "none" ? "off" : effort;
      this.#add(`codex effort ${effort} ${parentId}`, record, {
        type: "thinking_level_change",
        thinkingLevel,
      });
      this.state = { ...this.state, effort };
    }
  }

  rollBack(turns: unknown): void {
    this.#open = undefined;
    this.#last = undefined;
    this.#turn = undefined;
    this.state = beforeTurns(this.state, typeof turns === "number" ? turns : 0);
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
      const body = { type: "usage", kind: "codex.response", provider, model, usage };
      this.#add(key, record, { ...body, ...(responseId !== undefined && { note: responseId }) });
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
    this.#add(this.keyOf({ id: payload["compaction_response_id"], message: told }), record, {
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
      retainedTail: hasItems ? replaced.messages : saidInOrder(this.state),
    });
  }

  /** Removes the answer that is the summary, which is in the thread like any other before it is used. */
  #takeBackSummary(told: string): Answer["message"] | undefined {
    const answer = this.#last;
    this.#open = undefined;
    this.#last = undefined;
    if (answer === undefined || answer.draft !== this.state.tip || !isText(answer.message)) return undefined;
    const text = textsOf(answer.message.content).join("").trim();
    if (text === "" || !told.trim().endsWith(text) || !this.#context.builder.takeBack(answer.draft)) {
      return undefined;
    }
    this.state = answer.before;
    return answer.message;
  }

  /** Adds an entry after the last one of the thread. */
  #add(key: string, record: SourceRecord, body: EntryBody): Draft {
    const draft = this.#context.builder.add(key, this.state.tip, record.value["timestamp"], body);
    this.#moveTo(draft);
    return draft;
  }

  #moveTo(tip: Draft): void {
    this.state = { ...this.state, tip };
  }

  /** Derives a record's key from its item's id, else from its content and the number of equal records before it. */
  keyOf(item: JsonRecord): string {
    const id = textOf(item["id"]);
    const key = id === undefined ? `codex ${encodeParsed(item)}` : `codex ${id}`;
    const times = this.#context.seen.get(key) ?? 0;
    this.#context.seen.set(key, times + 1);
    return times === 0 ? key : `${key} ${times}`;
  }
}

/** Reads the id of the agent that a call started from the call's output; undefined if it started none. */
function startedAgentIn(output: string): string | undefined {
  // Most outputs are not JSON, and trying to parse them takes longer than all the rest.
  const isLikely = output.startsWith("{") && output.includes('"agent_id"');
  return isLikely ? textOf(fieldsOf(parseJson(output)?.value)["agent_id"]) : undefined;
}
