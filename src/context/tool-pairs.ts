import type { ToolCall } from "../schema/content.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage } from "../schema/message.ts";
import { textsOf } from "./content-text.ts";
import { fieldsOf } from "./entry-fields.ts";
import { isUnfinished } from "./unfinished.ts";

/**
 * What a repair did.
 *
 * `resultMade`: the call had no result and got one that says so. `resultMoved`: the result stood after
 * another message than its call's. `resultDropped`: no call before it asks for it, or it was answered
 * already, or the call's message failed. `callDropped`: the call cannot be paired: it repeats another one, has no id,
 * or its message failed or was aborted. `callRenamed`: its id was used by an earlier message, and both it and its result got a new one.
 * `messageDropped`: nothing was left of it but dropped calls.
 */
export type ToolPairRepairKind =
  | "resultMade"
  | "resultMoved"
  | "resultDropped"
  | "callDropped"
  | "callRenamed"
  | "messageDropped";

/** One thing that a repair did. */
export interface ToolPairRepair {
  readonly kind: ToolPairRepairKind;
  /**
   * Index of the message concerned, in the list that was given; for a result that was made, that of its
   * call's.
   */
  readonly index: number;
  /** Id of the call as it was; `""` where there is none. */
  readonly toolCallId: string;
  /** The new id of a renamed call. */
  readonly newToolCallId?: string;
}

/** A list in which every tool call has its result and the reverse, and what was done to make it so. */
export interface ToolPairsRepaired<M> {
  messages: M[];
  /** In the order of the list that was given; empty if it was in order. */
  repairs: ToolPairRepair[];
}

/** A result and where it was found. */
interface Answer {
  readonly index: number;
  readonly message: ToolResultMessage;
  /** Whether another message than a result stands between it and its call. */
  readonly isDisplaced: boolean;
}

/** An assistant message with tool calls, and their results by call id in the order of arrival. */
interface Turn {
  readonly index: number;
  readonly message: AssistantMessage;
  readonly answers: Map<string, Answer>;
}

type Block = AssistantMessage["content"][number];

/**
 * Makes a list of messages that the strictest provider accepts: the results of an assistant message stand
 * directly after it, one for each of its calls; there are no other results, and no id is used twice.
 *
 * A result belongs to the latest message before it that made the call; where it stands further on, as when
 * the user spoke while the tool ran, it is moved. A call without a result gets one that says it was
 * interrupted. A message that failed or was aborted loses its calls, and they their results, whether or not there are
 * any: a call of it may be half a call, and clients leave such messages out, so that a result would stand alone. An id that a later message uses again is renamed there, since some
 * providers number the calls of each message anew; if it has no result there, it is a repetition and goes.
 *
 * @param messages - Any list; neither it nor its messages are changed.
 * @returns A new list, with the same objects wherever nothing was to be repaired.
 * @remarks Cost: O(messages and blocks). Repairing twice is repairing once. Source: docs/format.md#context
 */
export function repairToolPairs(messages: readonly Message[]): ToolPairsRepaired<Message>;
export function repairToolPairs(messages: readonly AgentMessage[]): ToolPairsRepaired<AgentMessage>;
export function repairToolPairs(messages: readonly AgentMessage[]): ToolPairsRepaired<AgentMessage> {
  const repairs: ToolPairRepair[] = [];
  const items = gatherTurns(messages, repairs);
  const writer = new TurnWriter(items, repairs);
  const repaired = items.flatMap((item) => (isTurn(item) ? writer.write(item) : [item]));
  return { messages: repaired, repairs: repairs.sort((a, b) => a.index - b.index) };
}

/** Gathers each result under its call; a result that no call before it waits for is left out. */
function gatherTurns(messages: readonly AgentMessage[], repairs: ToolPairRepair[]): (AgentMessage | Turn)[] {
  const items: (AgentMessage | Turn)[] = [];
  const waiting = new Map<string, Turn>();
  messages.forEach((message, index) => {
    if (isToolResult(message)) {
      const id = idOf(message.toolCallId);
      const turn = id === undefined ? undefined : waiting.get(id);
      if (id === undefined || turn === undefined) {
        repairs.push({ kind: "resultDropped", index, toolCallId: id ?? "" });
        return;
      }
      waiting.delete(id);
      turn.answers.set(id, { index, message, isDisplaced: items.at(-1) !== turn });
    } else if (isCaller(message)) {
      const turn: Turn = { index, message, answers: new Map() };
      if (!isUnfinished(message)) for (const id of callIds(message)) waiting.set(id, turn);
      items.push(turn);
    } else {
      items.push(message);
    }
  });
  return items;
}

/** Writes turns in order, so that each call has its one result and its own id. */
class TurnWriter {
  readonly #repairs: ToolPairRepair[];
  /** Ids of the calls of the list; no new id may be one of them. */
  readonly #taken = new Set<string>();
  /** Ids of the calls that were written. */
  readonly #written = new Set<string>();
  /** For each id that was used again, the number in its latest new name. */
  readonly #numbers = new Map<string, number>();

  constructor(items: readonly (AgentMessage | Turn)[], repairs: ToolPairRepair[]) {
    this.#repairs = repairs;
    for (const item of items) if (isTurn(item)) for (const id of callIds(item.message)) this.#taken.add(id);
  }

  /** Returns the assistant message and its results; nothing if nothing is left of it. */
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

  /** Returns the call as it is to be sent, or none, and notes its id in `newIds`. */
  #writeCall(turn: Turn, call: ToolCall, newIds: Map<string, string>): ToolCall[] {
    const { index, message, answers } = turn;
    const id = idOf(call.id);
    const isUsed = id !== undefined && this.#written.has(id);
    const isRepeated = id !== undefined && (newIds.has(id) || (isUsed && !answers.has(id)));
    if (id === undefined || isRepeated || isUnfinished(message)) {
      this.#repairs.push({ kind: "callDropped", index, toolCallId: id ?? "" });
      return [];
    }
    const newId = isUsed ? this.#rename(id) : id;
    newIds.set(id, newId);
    this.#written.add(newId);
    if (newId === id) return [call];
    this.#repairs.push({ kind: "callRenamed", index, toolCallId: id, newToolCallId: newId });
    return [{ ...call, id: newId }];
  }

  /** Returns the results that are there in their order, then those that had to be made. */
  #writeResults(
    turn: Turn,
    content: readonly Block[],
    newIds: ReadonlyMap<string, string>,
  ): ToolResultMessage[] {
    const results: ToolResultMessage[] = [];
    const answered = new Set<string>();
    for (const [id, { index, message, isDisplaced }] of turn.answers) {
      const newId = newIds.get(id) ?? id;
      answered.add(newId);
      if (isDisplaced) this.#repairs.push({ kind: "resultMoved", index, toolCallId: id });
      results.push(newId === id ? message : { ...message, toolCallId: newId });
    }
    for (const call of content) {
      if (!isToolCall(call) || answered.has(call.id)) continue;
      this.#repairs.push({ kind: "resultMade", index: turn.index, toolCallId: call.id });
      results.push(interruptedResult(call, turn.message.timestamp));
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

/** Said in the result that a call without one gets. */
const INTERRUPTED = "The tool call was interrupted: it has no result.";

/** Tells whether a result is one that a repair made. */
export function isMadeResult({ content, isError }: ToolResultMessage): boolean {
  return isError && content.length === 1 && textsOf(content)[0] === INTERRUPTED;
}

function interruptedResult(call: ToolCall, timestamp: unknown): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: typeof call.name === "string" ? call.name : "unknown",
    content: [{ type: "text", text: INTERRUPTED }],
    isError: true,
    timestamp: typeof timestamp === "number" ? timestamp : 0,
  };
}

function isTurn(item: AgentMessage | Turn): item is Turn {
  return fieldsOf(item)["answers"] instanceof Map;
}

function isToolResult(message: AgentMessage): message is ToolResultMessage {
  return fieldsOf(message)["role"] === "toolResult";
}

/** Tells whether this is an assistant message with at least one tool call. */
function isCaller(message: AgentMessage): message is AssistantMessage {
  const { role, content } = fieldsOf(message);
  return role === "assistant" && Array.isArray(content) && content.some(isToolCall);
}

function isToolCall(block: unknown): block is ToolCall {
  return fieldsOf(block)["type"] === "toolCall";
}

/** Thinking alone is no answer, and providers refuse it. */
function isWorthSending(block: Block): boolean {
  return fieldsOf(block)["type"] !== "thinking";
}

function callIds(message: AssistantMessage): string[] {
  return message.content.flatMap((block) => (isToolCall(block) ? (idOf(block.id) ?? []) : []));
}

function idOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
