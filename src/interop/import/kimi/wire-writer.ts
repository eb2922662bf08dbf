import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { type JsonRecord, pickDefined, toSafeString } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { assistantMessage, toUsage } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, parseDataUrl } from "../../convert/images.ts";
import {
  addBlocks,
  endAnswer,
  makeCustomMessage,
  makeSubagentLink,
  makeThinkingChange,
  makeToolResult,
  makeUsageEntry,
  type SubagentLink,
  toFilled,
} from "../entry-bodies.ts";
import { EntryThread } from "../entry-thread.ts";
import { makeEntryId, type SessionBuilder } from "../session-builder.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** An agent step, which consists of a single model call. */
interface Step {
  readonly uuid: string;
  model: ReturnType<typeof getModel>;
  /** Undefined until part of the answer arrives. */
  message: AssistantMessage | undefined;
  /** Tokens not yet reported by any message. */
  usage: UnclaimedUsage | undefined;
}

/** Tokens of a call whose answer has not arrived yet or will never arrive. */
interface UnclaimedUsage {
  readonly key: string;
  readonly time: unknown;
  readonly usage: Usage;
}

/** Adds the entries of an agent's wire log, record by record. */
export class WireWriter extends EntryThread {
  /** Links to agents by the id of the call that started them. */
  readonly #agents: ReadonlyMap<string, SubagentLink>;
  readonly #isSubagent: boolean;
  readonly #toolNames = new Map<string, string>();
  #step: Step | undefined;
  /** Tokens of a call that is not part of a turn. The tokens of a compaction are stored here until it is applied. */
  #aside: UnclaimedUsage | undefined;

  constructor(builder: SessionBuilder, agents: ReadonlyMap<string, SubagentLink>, isSubagent: boolean) {
    super(builder);
    this.#isSubagent = isSubagent;
    this.#agents = agents;
  }

  startTurn(): void {
    this.#endStep();
    this.beginTurn();
  }

  takeMessage(record: JsonRecord): void {
    const message = getMember(record, "message");
    const { kind = "user", name, variant = name } = getMember(message, "origin");
    const content = convertSent(message["content"]);
    const id = toNonemptyText(message["id"]);
    const key = id === undefined ? this.#makeKey(record) : `kimi ${id}`;
    if (kind === "user" || (this.#isSubagent && kind === "system_trigger" && name === "subagent")) {
      this.say(key, record["time"], content);
      return;
    }
    const details = variant === undefined ? undefined : { variant };
    if (kind === "injection") this.keep(key, record["time"], kind, { ...details, content });
    else
      this.add(key, record["time"], makeCustomMessage(`kimi.${toSafeString(kind)}`, content, true, details));
  }

  beginStep({ uuid }: JsonRecord): void {
    this.#endStep();
    this.#step = { uuid: toNonemptyText(uuid) ?? "step", model: {}, message: undefined, usage: undefined };
  }

  request(record: JsonRecord): void {
    if (this.#step !== undefined && record["kind"] !== "compaction") this.#step.model = getModel(record);
  }

  /** Counts the tokens of a call. They precede its answer. */
  count(record: JsonRecord): void {
    const usage = convertTokens(getMember(record, "usage"));
    const { uuid } = this.#step ?? {};
    const isAside = record["usageScope"] === "session" || uuid === undefined;
    const told = {
      key: isAside ? this.#makeKey(record) : this.builder.numbered(`${uuid} usage`),
      time: record["time"],
      usage,
    };
    if (record["usageScope"] === "session") {
      this.#flush(this.#aside);
      this.#aside = told;
    } else if (this.#step?.message !== undefined && this.#step.message.usage.totalTokens === 0) {
      this.#claim(told);
      this.#step.message.usage = usage;
    } else if (this.#step === undefined) this.#flush(told);
    else {
      this.#flush(this.#step.usage);
      this.#step.usage = told;
    }
  }

  addPart(event: JsonRecord, time: unknown, block: AnswerBlock): void {
    if (this.#step === undefined || (event["stepUuid"] ?? this.#step.uuid) !== this.#step.uuid)
      this.beginStep({ uuid: event["stepUuid"] });
    const step = this.#step;
    if (step === undefined) return;
    const message = step.message ?? this.#beginAnswer(step, time);
    addBlocks(message, [block]);
    if (block.type === "toolCall") this.#toolNames.set(block.id, block.name);
  }

  #beginAnswer(step: Step, time: unknown): AssistantMessage {
    const { usage } = step;
    const message = assistantMessage([], {
      ...step.model,
      usage: usage?.usage ?? toUsage(),
      timestamp: 0,
    });
    if (usage !== undefined) this.#claim(usage);
    step.usage = undefined;
    step.message = message;
    this.addMessage(step.uuid, time, message);
    return message;
  }

  addResult(event: JsonRecord, time: unknown): void {
    const toolCallId = toNonemptyText(event["toolCallId"]) ?? "";
    const { output: _, note: __, isError, ...details } = getMember(event, "result");
    const result = makeToolResult({
      toolCallId,
      toolName: this.#toolNames.get(toolCallId) ?? UNKNOWN_NAME,
      content: convertResult(getMember(event, "result")),
      details: toFilled(details),
      isError: isError === true,
    });
    this.addMessage(`${toNonemptyText(event["parentUuid"])} result`, time, result);
    const link = this.#agents.get(toolCallId);
    if (link !== undefined) this.add(`kimi agent ${toolCallId}`, time, makeSubagentLink(link));
  }

  endStep({ messageId, finishReason }: JsonRecord): void {
    const message = this.#step?.message;
    if (message === undefined) return;
    const responseId = toNonemptyText(messageId);
    if (responseId !== undefined) message.responseId = responseId;
    if (finishReason === "interrupted") endAnswer(message, "aborted");
    if (finishReason === "max_tokens" || finishReason === "truncated") endAnswer(message, "length");
  }

  endTurn(reason: unknown, error: string | undefined, record: JsonRecord): void {
    const message = this.#step?.message;
    this.#endStep();
    if (reason === "cancelled" && message !== undefined) endAnswer(message, "aborted");
    if (reason !== "failed") return;
    if (message !== undefined && message.stopReason !== "toolUse") endAnswer(message, "error", error);
    else this.keepRecord(record, "error");
  }

  /** Rolls back the latest turns, which remain as a branch. */
  undo(count: unknown): void {
    this.#endStep();
    this.goBack(toCount(count));
  }

  compact(record: JsonRecord): void {
    const { summary, contextSummary, keptUserMessageCount: kept, tokensBefore, tokensAfter } = record;
    const call = this.#aside;
    this.#aside = undefined;
    if (call !== undefined) this.#claim(call);
    this.#endStep();
    const said = this.saidInOrder();
    this.add(this.#makeKey(record), record["time"], {
      type: "compaction",
      summary: toNonemptyText(summary) ?? toNonemptyText(contextSummary) ?? "Context compacted by Kimi Code.",
      firstKeptEntryId: undefined,
      tokensBefore: toCount(tokensBefore),
      details: { source: "kimi", ...(toCount(tokensAfter) > 0 && { tokensAfter }) },
      ...(call !== undefined && { usage: call.usage }),
      retainedTail: said.slice(Math.max(0, said.length - toCount(kept))),
    });
  }

  /** Changes the thinking level. The value `on` is ignored because it does not specify a level. */
  think(effort: unknown, time: unknown): void {
    const level = toNonemptyText(effort);
    if (level === undefined || level === "on" || level === this.state.effort) return;
    this.add(`kimi effort ${level} ${this.state.tip?.id}`, time, makeThinkingChange(level));
    this.state = { ...this.state, effort: level };
  }

  keepRecord(record: JsonRecord, name: string): void {
    const { type: _, agentId: __, time, ...data } = record;
    this.keep(this.#makeKey(record), time, name, data);
  }

  finish(): void {
    this.#endStep();
    this.#flush(this.#aside);
    this.builder.markLeaf(this.state.tip);
  }

  #endStep(): void {
    this.#flush(this.#step?.usage);
    this.#step = undefined;
  }

  /** Adds the tokens of a call whose answer is missing. */
  #flush(told: UnclaimedUsage | undefined): void {
    if (told === undefined || told.usage.totalTokens === 0) return;
    const { provider = UNKNOWN_NAME, model = UNKNOWN_NAME } = this.#step?.model ?? {};
    this.add(told.key, told.time, makeUsageEntry("kimi.call", provider, model, told.usage));
  }

  /** Marks tokens as reported by an entry. If the log had ended before that entry, the tokens would be in a separate entry. */
  #claim({ key }: UnclaimedUsage): void {
    this.builder.withdraw(makeEntryId(key));
  }

  /** Derives a record's key from its content and the number of equal records before it. */
  #makeKey(record: JsonRecord): string {
    return this.builder.numbered(`kimi ${encodeParsed(record)}`);
  }
}

/** Converts input that was sent to the model: text and inline images. Every other part is replaced with a short description. */
function convertSent(content: unknown): UserBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return toArray(content).map(toRecord).flatMap(convertSentPart);
}

function convertSentPart(part: JsonRecord): UserBlock[] {
  const { type, text, imageUrl, image_url = imageUrl } = part;
  if (typeof text === "string") return text === "" ? [] : [{ type: "text", text }];
  const url = toNonemptyText(toRecord(image_url)["url"]) ?? toNonemptyText(image_url);
  return [
    parseDataUrl(url) ??
      makePlaceholder(toNonemptyText(type)?.replace(/_url$/, "") ?? "part", url?.slice(0, 200)),
  ];
}

/** Converts part of an answer. */
export function convertAnswerPart(part: JsonRecord): AnswerBlock {
  const { type, text, think, encrypted } = part;
  if (type === "think") {
    const signature = toNonemptyText(encrypted);
    return {
      type: "thinking",
      thinking: toNonemptyText(think) ?? toNonemptyText(text) ?? "",
      ...(signature !== undefined && { thinkingSignature: signature }),
    };
  }
  return { type: "text", text: toNonemptyText(text) ?? makePlaceholder(toNonemptyText(type) ?? "part").text };
}

/** Converts a tool's result, including its note, which was also sent to the model. */
function convertResult(result: JsonRecord): UserBlock[] {
  const blocks = convertSent(result["output"]);
  const note = toNonemptyText(result["note"]);
  const last = blocks.at(-1);
  if (note === undefined) return blocks;
  if (last?.type !== "text") return [...blocks, { type: "text", text: note }];
  return [...blocks.slice(0, -1), { type: "text", text: `${last.text}\n${note}` }];
}

/** Converts a call's token counts. The source's input count excludes both caches. */
function convertTokens(tokens: JsonRecord): Usage {
  return toUsage({
    input: tokens["inputOther"],
    output: tokens["output"],
    cacheRead: tokens["inputCacheRead"],
    cacheWrite: tokens["inputCacheCreation"],
  });
}

/** APIs by provider type. */
const APIS: ReadonlyMap<unknown, string> = new Map([
  ["kimi", "openai-completions"],
  ["openai", "openai-completions"],
  ["openai_legacy", "openai-completions"],
  ["openai_responses", "openai-responses"],
  ["anthropic", "anthropic-messages"],
  ["google_genai", "google-generative-ai"],
  ["gemini", "google-generative-ai"],
]);

/** Returns the model that a request specifies, as message fields. */
function getModel(request: JsonRecord): { provider?: string; model?: string; api?: string } {
  const [provider, model] = [toNonemptyText(request["provider"]), toNonemptyText(request["model"])];
  return pickDefined({ provider, model, api: APIS.get(provider) });
}

/** Returns the error message from a record that ends a turn; undefined if it has none. */
export function findError(record: JsonRecord): string | undefined {
  return toNonemptyText(getMember(record, "error")["message"]) ?? toNonemptyText(record["error"]);
}
