import { ARRAY, assertArgument } from "../format/arguments.ts";
import type { TextContent, ToolCall } from "../format/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  Message,
  ToolResultMessage,
  UserMessage,
} from "../format/message.ts";
import { assertOptions, CALLBACK } from "../format/options.ts";
import { toWellFormedText } from "../format/well-formed-text.ts";
import { getTexts } from "./content-text.ts";
import { toRecord } from "./entry-fields.ts";
import { isUnfinished } from "./unfinished-answer.ts";

/** Repair of a tool call or result. */
export interface ToolPairRepair {
  /**
   * Kind of the repair.
   *
   * `resultMade`: the call had no result, so a result stating this was added. `resultMoved`: the result did not follow the
   * message of its call. `resultQuoted`: the result remains in its position as user text, because a later answer is bound to the
   * added result. `resultDropped`: no earlier call matches, the call already had a result, or its message is unfinished.
   * `callDropped`: another call in its message has the same id, the call has no id, or its message is unfinished. `callRenamed`:
   * an earlier message used its id; the call and its result were given a new id. `messageDropped`: it contained only dropped
   * calls.
   */
  readonly kind:
    | "resultMade"
    | "resultMoved"
    | "resultQuoted"
    | "resultDropped"
    | "callDropped"
    | "callRenamed"
    | "messageDropped";
  /** Index of the message in the original array; for an added result, the index of the message with its call. */
  readonly index: number;
  /** Original call id; `""` if it has none. */
  readonly toolCallId: string;
  /** New id of a renamed call. Also set on the repair that adds its result. */
  readonly newToolCallId?: string;
}

/** Messages in which calls and results match, and the repairs that were made. */
export interface ToolPairsRepaired<M> {
  messages: M[];
  /** In the order of the original array; empty if nothing was repaired. */
  repairs: ToolPairRepair[];
}

interface ToolPairOptions {
  readonly bindsThinking?: ((answer: AssistantMessage) => boolean) | undefined;
}

/** Result and its position. */
interface Answer {
  readonly index: number;
  readonly message: ToolResultMessage;
  /** Whether a non-result message separates it from its call. */
  readonly isDisplaced: boolean;
}

/** Assistant message with tool calls, and their results by call id, in order. */
interface Turn {
  readonly index: number;
  readonly message: AssistantMessage;
  readonly answers: Map<string, Answer>;
}

type Block = AssistantMessage["content"][number];

/**
 * Returns messages that even the strictest provider accepts: each assistant message is directly followed by one result per call,
 * there are no other results, and ids are unique.
 *
 * A result belongs to the latest earlier message with its call, and is moved there if the user sent a message while the tool ran;
 * a second result is dropped. A result remains in its position as user text if it follows an answer whose thinking is bound to an
 * added result. A call without a result is given a result that reports the interruption. Calls in an unfinished message and their
 * results are dropped: a call may be incomplete, and clients omit such messages. If a later message reuses an id, the id is
 * renamed there, because some providers restart the numbering of calls in each message.
 *
 * @param messages - Any messages; neither the array nor its messages are changed.
 * @param options - `bindsThinking`: returns whether an answer's model rejects its thinking if earlier messages change.
 *   Default: always false.
 * @returns A new array, with the same objects where nothing was repaired.
 * @remarks Cost: O(messages and blocks). Idempotent. Source: docs/format.md#context
 */
export function repairToolPairs(
  messages: readonly Message[],
  options?: ToolPairOptions,
): ToolPairsRepaired<Message>;
export function repairToolPairs(
  messages: readonly AgentMessage[],
  options?: ToolPairOptions,
): ToolPairsRepaired<AgentMessage>;
export function repairToolPairs(
  messages: readonly AgentMessage[],
  options: ToolPairOptions = {},
): ToolPairsRepaired<AgentMessage> {
  assertArgument("messages", messages, ARRAY);
  assertOptions(options, { bindsThinking: CALLBACK });
  const { bindsThinking = () => false } = options;
  const repairs: ToolPairRepair[] = [];
  const items = gatherTurns(messages, repairs, bindsThinking);
  const writer = new TurnWriter(items, repairs);
  const repaired = items.flatMap((item) => (isTurn(item) ? writer.write(item) : [item]));
  return { messages: repaired, repairs: repairs.sort((a, b) => a.index - b.index) };
}

/** Groups results by their calls. Drops results that do not match an open call, and quotes results that arrived late. */
function gatherTurns(
  messages: readonly AgentMessage[],
  repairs: ToolPairRepair[],
  bindsThinking: (answer: AssistantMessage) => boolean,
): (AgentMessage | Turn)[] {
  const items: (AgentMessage | Turn)[] = [];
  // Index of the latest answer whose thinking is rejected if an earlier result changes.
  let boundAt = -1;
  // For each id, the latest message with a call that has no result yet.
  const waiting = new Map<string, Turn>();
  messages.forEach((message, index) => {
    if (isToolResult(message)) {
      const id = toId(message.toolCallId);
      const turn = id === undefined ? undefined : waiting.get(id);
      if (id === undefined || turn === undefined) {
        repairs.push({ kind: "resultDropped", index, toolCallId: id ?? "" });
        return;
      }
      // A second result repeats the first; it does not answer an older call.
      waiting.delete(id);
      if (boundAt > turn.index) {
        repairs.push({ kind: "resultQuoted", index, toolCallId: id });
        items.push(quoteLateResult(message));
        return;
      }
      turn.answers.set(id, { index, message, isDisplaced: items.at(-1) !== turn });
      return;
    }
    if (isFinishedAnswer(message) && bindsThinking(message)) boundAt = index;
    if (isCaller(message)) {
      const turn: Turn = { index, message, answers: new Map() };
      if (!isUnfinished(message)) for (const id of listCallIds(message)) waiting.set(id, turn);
      items.push(turn);
    } else {
      items.push(message);
    }
  });
  return items;
}

/** Writes turns in order, so that each call has one result and a unique id. */
class TurnWriter {
  readonly #repairs: ToolPairRepair[];
  /** Ids of all calls; a new id must differ from all of them. */
  readonly #taken = new Set<string>();
  /** Ids of the calls that were written. */
  readonly #written = new Set<string>();
  /** For each reused id, the number in the latest id that replaced it. */
  readonly #numbers = new Map<string, number>();

  constructor(items: readonly (AgentMessage | Turn)[], repairs: ToolPairRepair[]) {
    this.#repairs = repairs;
    for (const item of items)
      if (isTurn(item)) for (const id of listCallIds(item.message)) this.#taken.add(id);
  }

  /** Returns the assistant message and its results, or an empty array if all its content was dropped. */
  write(turn: Turn): AgentMessage[] {
    const { index, message } = turn;
    const newIds = new Map<string, string>();
    const content = message.content.flatMap((block): Block[] =>
      isToolCall(block) ? this.#writeCall(turn, block, newIds) : [block],
    );
    if (newIds.size === 0 && !content.some(isWorthSending)) {
      this.#repairs.push({ kind: "messageDropped", index, toolCallId: "" });
      return [];
    }
    const isUnchanged = message.content.every((block, i) => block === content[i]);
    const results = this.#writeResults(turn, content, newIds);
    return [isUnchanged ? message : { ...message, content }, ...results];
  }

  /** Returns the call to send, if any, and records its id in `newIds`. */
  #writeCall(turn: Turn, call: ToolCall, newIds: Map<string, string>): ToolCall[] {
    const { index, message } = turn;
    const id = toId(call.id);
    if (id === undefined || newIds.has(id) || isUnfinished(message)) {
      this.#repairs.push({ kind: "callDropped", index, toolCallId: id ?? "" });
      return [];
    }
    const newId = this.#written.has(id) ? this.#rename(id) : id;
    newIds.set(id, newId);
    this.#written.add(newId);
    if (newId === id) return [call];
    this.#repairs.push({ kind: "callRenamed", index, toolCallId: id, newToolCallId: newId });
    return [{ ...call, id: newId }];
  }

  /** Returns existing results in order, then the results that had to be added. */
  #writeResults(
    turn: Turn,
    content: readonly Block[],
    newIds: ReadonlyMap<string, string>,
  ): ToolResultMessage[] {
    const results: ToolResultMessage[] = [];
    for (const [id, { index, message, isDisplaced }] of turn.answers) {
      const newId = newIds.get(id) ?? id;
      if (isDisplaced) this.#repairs.push({ kind: "resultMoved", index, toolCallId: id });
      results.push(newId === id ? message : { ...message, toolCallId: newId });
    }
    if (turn.answers.size === newIds.size) return results;
    const calls = new Map(content.flatMap((block) => (isToolCall(block) ? [[block.id, block]] : [])));
    for (const [id, newId] of newIds) {
      const call = calls.get(newId);
      if (call === undefined || turn.answers.has(id)) continue;
      const renamed = newId === id ? {} : { newToolCallId: newId };
      this.#repairs.push({ kind: "resultMade", index: turn.index, toolCallId: id, ...renamed });
      results.push(makeInterruptedResult(call, turn.message.timestamp));
    }
    return results;
  }

  #rename(id: string): string {
    let number = this.#numbers.get(id) ?? 1;
    let newId: string;
    do newId = `${id}_${++number}`;
    while (this.#taken.has(newId));
    this.#numbers.set(id, number);
    this.#taken.add(newId);
    return newId;
  }
}

/** Text of the result for a call without one. */
const INTERRUPTED = "The tool call was interrupted: it has no result.";

/** Returns whether a result was added by a repair. */
export function isMadeResult({ content, isError }: ToolResultMessage): boolean {
  return isError && content.length === 1 && getTexts(content)[0] === INTERRUPTED;
}

function makeInterruptedResult(call: ToolCall, timestamp: unknown): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: typeof call.name === "string" ? call.name : "unknown",
    content: [{ type: "text", text: INTERRUPTED }],
    isError: true,
    timestamp: typeof timestamp === "number" ? timestamp : 0,
  };
}

/** Returns a result as user text that identifies its call, for calls that already have another result. */
export function quoteLateResult(result: ToolResultMessage): UserMessage {
  const { toolCallId, toolName, content, isError, timestamp } = result;
  const text = `Tool call ${toolCallId} (${toolName}) has ${isError ? "failed" : "ended"} after all. Its result:`;
  const said = Array.isArray(content) ? content : getTexts(content).map(textBlock);
  return { role: "user", content: [textBlock(toWellFormedText(text)), ...said], timestamp };
}

function textBlock(text: string): TextContent {
  return { type: "text", text };
}

function isFinishedAnswer(message: AgentMessage): message is AssistantMessage {
  return toRecord(message)["role"] === "assistant" && !isUnfinished(message);
}

function isTurn(item: AgentMessage | Turn): item is Turn {
  return toRecord(item)["answers"] instanceof Map;
}

function isToolResult(message: AgentMessage): message is ToolResultMessage {
  return toRecord(message)["role"] === "toolResult";
}

/** Returns whether a message is an assistant message with at least one tool call. */
function isCaller(message: AgentMessage): message is AssistantMessage {
  const { role, content } = toRecord(message);
  return role === "assistant" && Array.isArray(content) && content.some(isToolCall);
}

function isToolCall(block: unknown): block is ToolCall {
  return toRecord(block)["type"] === "toolCall";
}

/** Returns false for thinking, because thinking by itself is not an answer and providers reject it. */
function isWorthSending(block: Block): boolean {
  return toRecord(block)["type"] !== "thinking";
}

function listCallIds(message: AssistantMessage): string[] {
  return message.content.flatMap((block) => (isToolCall(block) ? (toId(block.id) ?? []) : []));
}

function toId(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
