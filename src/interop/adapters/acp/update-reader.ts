import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import { toJson, toText } from "../../../core/context/message-parts.ts";
import type { ToolCall, Usage } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import type { Message, StopReason, ToolResultMessage } from "../../../core/format/message.ts";
import { toSessionName } from "../../../core/format/session-name.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import { assistantMessage, toUsage } from "../../convert/answer.ts";
import { ConversionIssues } from "../../convert/conversion-issue.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder } from "../../convert/images.ts";
import { isSameJson } from "../../convert/raw-form.ts";
import { toStoredData } from "../stored-data.ts";
import { ACP_DETAIL, type AcpContentBlock, type AcpToolContent } from "./acp-types.ts";
import { type CallFacts, readFacts } from "./call-facts.ts";
import { fromBlock, isWholeBlock, makeQuestion, readBlock } from "./content-blocks.ts";
import { UPDATE_CUSTOM_TYPE } from "./to-acp-updates.ts";

/** Facts that are not in the updates, and the state of the session before the first update. */
export interface UpdateSource {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  /** Returns the time of a message, in Unix milliseconds. */
  readonly getTime: (index: number) => number;
  readonly name: string | undefined;
  /** Cost so far, in US dollars. Updates report session totals. */
  readonly cost: number;
}

/** Receives an entry and its message, if any. */
type TakeEntry = (entry: EntryDraft | DraftMaker, message?: Message) => void;

/** A message in progress. */
type OpenMessage =
  | { readonly role: "user"; readonly id: string | undefined; readonly blocks: AcpContentBlock[] }
  | OpenAnswer;

interface OpenAnswer {
  readonly role: "assistant";
  readonly id: string | undefined;
  readonly content: AnswerBlock[];
  readonly calls: RunningCall[];
}

/** Reasons why a turn ended with an incomplete answer. */
const STOP_REASONS: ReadonlyMap<unknown, StopReason> = new Map([
  ["max_tokens", "length"],
  ["refusal", "error"],
  ["cancelled", "aborted"],
]);

/** Types of updates that are not messages. Each such update replaces the previous one of the same type. */
const STATES: ReadonlySet<string> = new Set([
  ...["plan", "available_commands_update", "current_mode_update", "config_option_update"],
]);

/**
 * Creates entries from an agent's updates, regardless of the order in which they arrive.
 *
 * Emits an answer and its results when the next message begins or when all of the answer's calls have ended. Updates that are not
 * messages are emitted after the message in progress.
 */
export class UpdateReader {
  readonly issues = new ConversionIssues();
  readonly #source: UpdateSource;
  readonly #emit: TakeEntry;
  #index = -1;
  #open: OpenMessage | undefined;
  /** Calls without a result, by id. Answers containing these calls may already be complete. */
  readonly #running = new Map<string, RunningCall>();
  /** Drafts to emit after the message in progress, by kind. */
  readonly #behind = new Map<string, EntryDraft>();
  readonly #states = new Map<string, JsonObject>();
  /** Summaries of unfinished compactions, by id. */
  readonly #summaries = new Map<string, string>();
  #name: string | undefined;
  #cost: number;
  #contextTokens = 0;
  /** Usage not yet reported by any answer. */
  #usage: Usage | undefined;

  constructor(source: UpdateSource, emit: TakeEntry) {
    this.#source = source;
    this.#emit = emit;
    this.#name = source.name;
    this.#cost = source.cost;
  }

  /** Reads an update, a notification that contains an update, or the end of a turn. If it throws, nothing has changed. */
  take(value: unknown): void {
    const update = findUpdate(toStoredData(value, "an update"));
    this.#index++;
    const { sessionUpdate, stopReason } = update;
    if (sessionUpdate === undefined && typeof stopReason === "string") this.end(stopReason);
    else if (!this.#read(update)) this.#keep(update);
  }

  /** Ends a turn. Calls that are still running get a result if they have produced output. */
  end(stopReason?: string): void {
    for (const call of this.#running.values()) call.hasEnded ||= call.hasOutput;
    this.#finish(stopReason);
    for (const call of this.#running.values()) if (call.hasEnded) this.#addResult(call);
    this.#running.clear();
    const usage = this.#takeUsage();
    const { provider, model } = this.#source;
    if (usage !== undefined) this.#emit({ type: "usage", kind: "acp", provider, model, usage });
  }

  /** Reads an update. Returns false if it is malformed or of an unknown type. */
  #read(update: JsonObject): boolean {
    switch (update["sessionUpdate"]) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#readChunk(update);
      case "tool_call":
      case "tool_call_update":
        return this.#readCall(update);
      case "usage_update":
        return this.#readUsage(update);
      case "session_info_update":
        return this.#readInfo(update);
      case "compaction_update":
      case "compaction_summary_chunk":
        return this.#readCompaction(update);
      default:
        return false;
    }
  }

  #readChunk({ sessionUpdate, content, messageId }: JsonObject): boolean {
    const block = readBlock(content);
    if (block === undefined) return false;
    const id = toText(messageId) || undefined;
    if (sessionUpdate === "user_message_chunk") joinBlock(this.#questionFor(id), block);
    else
      joinAnswer(this.#answerFor(id).content, toAnswerBlock(block, sessionUpdate === "agent_thought_chunk"));
    return true;
  }

  #readCall(update: JsonObject): boolean {
    const { toolCallId: id, sessionUpdate } = update;
    if (typeof id !== "string" || id === "") return false;
    const call = this.#running.get(id) ?? this.#beginCall(id, sessionUpdate === "tool_call");
    call.update(update);
    if (!call.hasEnded) return true;
    const open = this.#open;
    if (open?.role !== "assistant" || !open.calls.includes(call)) this.#addResult(call);
    else if (open.calls.every(({ hasEnded }) => hasEnded)) this.#finish();
    return true;
  }

  #beginCall(id: string, isAnnounced: boolean): RunningCall {
    const { content, calls } = this.#answerFor(undefined);
    const call = new RunningCall(id);
    content.push(call.block);
    calls.push(call);
    this.#running.set(id, call);
    if (!isAnnounced)
      this.issues.report(
        "PAIR_REPAIRED",
        this.#index,
        "Started a call for which only an update was received.",
      );
    return call;
  }

  #readUsage({ used, cost }: JsonObject): boolean {
    const { amount, currency } = toRecord(cost);
    this.#contextTokens = toCount(used);
    let dollars = this.#usage?.cost.total ?? 0;
    if (currency === "USD") {
      // An agent that was restarted counts from zero again.
      dollars += toCount(amount) < this.#cost ? toCount(amount) : toCount(amount) - this.#cost;
      this.#cost = toCount(amount);
    } else if (amount !== undefined) {
      this.issues.report("FLAG_DROPPED", this.#index, "Dropped a cost that is not in US dollars.");
    }
    this.#usage = toUsage({ total: this.#contextTokens, cost: dollars });
    return true;
  }

  #readInfo({ title }: JsonObject): boolean {
    if (title !== null && typeof title !== "string") return title === undefined;
    const name = toSessionName(title?.replace(/[\r\n]+/g, " "));
    if (name === this.#name) return true;
    this.#name = name;
    this.#addBehind("session_info", { type: "session_info", name: name ?? "" });
    return true;
  }

  #readCompaction({ compactionId: id, status, summary, content }: JsonObject): boolean {
    if (typeof id !== "string") return false;
    if (content !== undefined) {
      this.#summaries.set(id, (this.#summaries.get(id) ?? "") + joinBlockTexts([content]));
      return true;
    }
    if (summary !== undefined) this.#summaries.set(id, joinBlockTexts(summary));
    const text = this.#summaries.get(id)?.trim();
    if (status !== "completed" || !text) return status === "in_progress";
    this.#summaries.delete(id);
    this.#finish();
    const tokensBefore = this.#contextTokens;
    // It is unknown which part of the history the agent kept.
    this.#emit((own) => ({ type: "compaction", summary: text, firstKeptEntryId: own, tokensBefore }));
    return true;
  }

  /** Keeps an update that is not a message, unchanged. */
  #keep(update: JsonObject): void {
    const { sessionUpdate: kind } = update;
    const draft = { type: "custom" as const, customType: UPDATE_CUSTOM_TYPE, data: update };
    if (typeof kind === "string" && STATES.has(kind)) {
      if (isSameJson(this.#states.get(kind), update)) return;
      this.#states.set(kind, update);
      this.#addBehind(kind, draft);
      return;
    }
    const what =
      typeof kind === "string" ? `an update of type ${kind.slice(0, 40)}` : "a value that is not an update";
    this.issues.report(
      "MESSAGE_DROPPED",
      this.#index,
      `Kept ${what} as state, because a message cannot contain it.`,
    );
    this.#addBehind(`update ${this.#index}`, draft);
  }

  #addBehind(kind: string, draft: EntryDraft): void {
    if (this.#open === undefined) this.#emit(draft);
    else this.#behind.set(kind, draft);
  }

  #questionFor(id: string | undefined): AcpContentBlock[] {
    const open = this.#open;
    if (open?.role === "user" && !isDifferent(id, open.id)) return open.blocks;
    this.#finish();
    const blocks: AcpContentBlock[] = [];
    this.#open = { role: "user", id, blocks };
    return blocks;
  }

  /** Returns the answer that a chunk or a call continues. Thinking may have its own id. */
  #answerFor(id: string | undefined): OpenAnswer {
    const open = this.#open;
    if (open?.role === "assistant" && !open.calls.some(({ hasEnded }) => hasEnded)) {
      const isThought = open.content.every(({ type }) => type === "thinking");
      if (isThought || !isDifferent(id, open.id)) return open;
    }
    this.#finish();
    const begun: OpenAnswer = { role: "assistant", id, content: [], calls: [] };
    this.#open = begun;
    return begun;
  }

  /** Completes the message in progress, adds the results of its calls, and emits the drafts waiting for it. */
  #finish(stopReason?: string): void {
    const open = this.#open;
    this.#open = undefined;
    if (open?.role === "user") {
      this.#addMessage({ ...makeQuestion(open.blocks), timestamp: this.#time });
    } else if (open !== undefined) {
      for (const call of open.calls) call.complete();
      this.#addMessage(this.#makeAnswer(open, stopReason));
      for (const call of open.calls) if (call.hasEnded) this.#addResult(call);
    }
    for (const draft of this.#behind.values()) this.#emit(draft);
    this.#behind.clear();
  }

  #makeAnswer({ content }: OpenAnswer, rawStopReason: string | undefined): Message {
    const { api, provider, model } = this.#source;
    const stopReason = STOP_REASONS.get(rawStopReason);
    const usage = this.#takeUsage();
    return assistantMessage(content, {
      api,
      provider,
      model,
      timestamp: this.#time,
      ...(usage !== undefined && { usage }),
      ...(stopReason !== undefined && { stopReason }),
      ...(stopReason === "error" && { errorMessage: "The agent refused to continue." }),
      ...(rawStopReason !== undefined && { rawStopReason }),
    });
  }

  #addResult(call: RunningCall): void {
    this.#running.delete(call.block.id);
    this.#addMessage(call.result(this.#time));
  }

  #addMessage(message: Message): void {
    this.#emit({ type: "message", message }, message);
  }

  #takeUsage(): Usage | undefined {
    const usage = this.#usage;
    this.#usage = undefined;
    return usage;
  }

  get #time(): number {
    return this.#source.getTime(Math.max(0, this.#index));
  }
}

/**
 * Returns the update in a notification, in a JSON-RPC message that contains a notification, or in a value from the SDK's
 * sessions.
 */
function findUpdate(value: JsonObject): JsonObject {
  for (const name of ["params", "update"]) {
    const within = value[name];
    if (value["sessionUpdate"] === undefined && isJsonRecord(within)) return findUpdate(within);
  }
  return value;
}

/** Returns whether two ids belong to different messages. A missing id matches any id. */
function isDifferent(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function toAnswerBlock(block: AcpContentBlock, isThought: boolean): AnswerBlock {
  const said = fromBlock(block);
  const text = said.type === "text" ? said.text : makePlaceholder("image", said.mimeType).text;
  return isThought ? { type: "thinking", thinking: text } : { type: "text", text };
}

function joinAnswer(content: AnswerBlock[], block: AnswerBlock): void {
  const last = content.at(-1);
  if (last?.type === "text" && block.type === "text") last.text += block.text;
  else if (last?.type === "thinking" && block.type === "thinking") last.thinking += block.thinking;
  else content.push(block);
}

function joinBlock(blocks: AcpContentBlock[], block: AcpContentBlock): void {
  const last = blocks.at(-1);
  if (last?.type === "text" && block.type === "text") last.text += block.text;
  else blocks.push(block);
}

function joinBlockTexts(blocks: unknown): string {
  const read = toArray(blocks).flatMap((block) => readBlock(block) ?? []);
  return read.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A tool call to which each update adds information. */
class RunningCall {
  /** Call in its answer. It never changes once it is complete, because it may already be stored. */
  readonly block: ToolCall;
  hasEnded = false;
  #hasFailed = false;
  #name = "";
  #rawInput: JsonObject[string] | undefined;
  #facts: CallFacts = {};

  constructor(id: string) {
    this.block = { type: "toolCall", id, name: "", arguments: {} };
  }

  /** Whether the call has produced any output. */
  get hasOutput(): boolean {
    return this.#facts.content !== undefined || this.#facts.rawOutput !== undefined;
  }

  update(update: JsonObject): void {
    const { name, rawInput, status } = update;
    if (typeof name === "string" && name !== "") this.#name = name;
    if (rawInput !== undefined && rawInput !== null) this.#rawInput = rawInput;
    this.#facts = { ...this.#facts, ...readFacts(update) };
    this.#hasFailed = status === "failed";
    this.hasEnded ||= status === "completed" || status === "failed";
  }

  /** Completes the call in its answer, using the currently known facts. */
  complete(): void {
    const { kind = "tool", title } = this.#facts;
    const input = this.#rawInput;
    this.block.name = this.#name || kind;
    if (isJsonRecord(input)) this.block.arguments = input;
    else if (input !== undefined) this.block.arguments = { input };
    else if (title !== undefined) this.block.arguments = { title };
  }

  /** Creates the result. Data that a message cannot contain is kept in `details`. */
  result(timestamp: number): ToolResultMessage {
    const { content = [], rawOutput } = this.#facts;
    const isWhole = content.every((part) => part.type === "content" && isWholeBlock(part.content));
    const { content: _content, ...facts } = this.#facts;
    const kept = toStoredData(isWhole ? facts : this.#facts, "a result");
    const { id, name } = this.block;
    return {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: content.length > 0 ? content.map(toShownBlock) : toOutputBlocks(rawOutput),
      ...(Object.keys(kept).length > 0 && { details: { [ACP_DETAIL]: kept } }),
      isError: this.#hasFailed,
      timestamp,
    };
  }
}

function toShownBlock(part: AcpToolContent): UserBlock {
  if (part.type === "content") return fromBlock(part.content);
  return part.type === "diff"
    ? makePlaceholder("diff", part.path)
    : makePlaceholder("terminal", part.terminalId);
}

function toOutputBlocks(output: unknown): UserBlock[] {
  if (output === undefined) return [];
  return [{ type: "text", text: toText(output) || toJson(output) }];
}
