import { isStoredMessage, toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "../../../core/format/message.ts";
import { findRaw, getCallState, isForModel, withoutFields } from "../raw-form.ts";
import { getCallId } from "../tool-ids.ts";
import { toStorablePart, writeResult } from "./model-parts.ts";
import { getToolName, isToolPart, type PartResult, splitSteps } from "./ui-parts.ts";
import { currentParts, readUIState } from "./ui-state.ts";

/** Messages with data that only their UI messages contain. */
interface KeptParts {
  readonly messages: readonly AgentMessage[];
  /** Tool parts with an approval, or with state that arrived after their answer, by index of the answer. */
  readonly calls: ReadonlyMap<number, readonly JsonRecord[]>;
  /** Indexes of answers from which calls were dropped because the user continued without approving or denying them. */
  readonly superseded: readonly number[];
}

/**
 * Adds data that only UI messages contain to messages, as parts of model messages. Examples are files,
 * provider-executed tools, and state that blocks cannot represent.
 *
 * A UI message is stored with its first answer. Each of its steps belongs to one answer and the results of that answer.
 */
export function withKeptParts(messages: readonly AgentMessage[]): KeptParts {
  const reader = new KeptPartsReader(messages);
  const kept = messages.map((message, index) => reader.read(message, index));
  return { messages: kept, calls: reader.calls, superseded: reader.superseded };
}

class KeptPartsReader {
  readonly calls = new Map<number, JsonRecord[]>();
  readonly superseded: number[] = [];
  readonly #results: ReadonlyMap<AgentMessage, ReadonlyMap<string, PartResult>>;
  readonly #lastUser: number;
  /** Steps of the latest UI message that are not yet assigned to an answer, and the step of the latest answer. */
  #steps: object[][] = [];
  #step: readonly object[] = [];

  constructor(messages: readonly AgentMessage[]) {
    this.#results = resultsOfAnswers(messages);
    this.#lastUser = messages.findLastIndex((message) => toRecord(message)["role"] === "user");
  }

  read(message: AgentMessage, index: number): AgentMessage {
    if (!isStoredMessage(message)) return message;
    if (message.role === "toolResult") return this.#readResult(message);
    if (message.role !== "user" && message.role !== "assistant") return message;
    const kept = findRaw(message, "uiMessage");
    if (message.role === "user" || kept !== undefined)
      this.#steps = splitSteps(toArray(toRecord(kept)["parts"]).map(toRecord));
    this.#step = this.#steps.shift() ?? [];
    return withModelMessage(message.role === "user" ? message : this.#readAnswer(message, index), this.#step);
  }

  #readAnswer(message: AssistantMessage, index: number): AssistantMessage {
    const state = readUIState(message.details);
    const results = this.#results.get(message) ?? new Map<string, PartResult>();
    const isKept = this.#step.length > 0;
    const known = isKept || state["calls"] === undefined ? this.#step : bareCalls(message, state["calls"]);
    const current = currentParts(known, [{ state, results }]);
    if (isKept) this.#step = current;
    const said = current.map(toRecord).filter((part) => {
      return part["approval"] !== undefined || (!isKept && getCallState(part) !== undefined);
    });
    if (said.length === 0) return message;
    // The SDK omits requests that the user skipped by continuing the chat.
    const isOver = ({ state }: JsonRecord) => index < this.#lastUser && state === "approval-requested";
    const over = new Set(said.filter(isOver).map(({ toolCallId }) => toolCallId));
    this.calls.set(
      index,
      said.filter((part) => !isOver(part)),
    );
    if (over.size === 0) return message;
    this.superseded.push(index);
    this.#step = this.#step.filter((part) => !over.has(toRecord(part)["toolCallId"]));
    const isSent = (block: unknown) => {
      const { type, id } = toRecord(block);
      return type !== "toolCall" || !over.has(getCallId(toSafeString(id)));
    };
    return Array.isArray(message.content) ? { ...message, content: message.content.filter(isSent) } : message;
  }

  #readResult(message: ToolResultMessage): AgentMessage {
    const modelMessage = resultPart(message, this.#step);
    if (modelMessage === undefined) return message;
    const { uiMessage: _, ...others } = toRecord(message.details);
    return withDetails(message, { ...others, modelMessage });
  }
}

/** Returns the results of each answer by the SDK's call ids. */
function resultsOfAnswers(
  messages: readonly AgentMessage[],
): Map<AgentMessage, ReadonlyMap<string, PartResult>> {
  const callers = new Map<string, Map<string, PartResult>>();
  const found = new Map<AgentMessage, ReadonlyMap<string, PartResult>>();
  for (const message of messages.filter(isStoredMessage)) {
    if (message.role === "toolResult") {
      const id = getCallId(toSafeString(message.toolCallId));
      callers.get(id)?.set(id, { message, isOpen: false });
      callers.delete(id);
    } else if (message.role === "assistant") {
      const results = new Map<string, PartResult>();
      found.set(message, results);
      for (const { type, id } of toArray(message.content).map(toRecord))
        if (type === "toolCall") callers.set(getCallId(toSafeString(id)), results);
    }
  }
  return found;
}

/** Returns the calls of an answer, including provider-executed calls, as tool parts without other data. */
function bareCalls({ content }: AssistantMessage, calls: unknown): object[] {
  const names = new Map(Object.keys(toRecord(calls)).map((id) => [id, ""]));
  for (const { type, id, name } of toArray(content).map(toRecord))
    if (type === "toolCall") names.set(getCallId(toSafeString(id)), toSafeString(name));
  return Array.from(names, ([toolCallId, name]) => ({ type: `tool-${name}`, toolCallId }));
}

function withModelMessage(message: UserMessage | AssistantMessage, step: readonly object[]): AgentMessage {
  const { uiMessage, ...others } = toRecord(message.details);
  const isUsed = isForModel({ parts: step });
  if (uiMessage === undefined && !isUsed) return message;
  const content = step.flatMap(modelParts).map(toStorablePart);
  const modelMessage = { role: message.role, content };
  return withDetails(message, isUsed ? { ...others, modelMessage } : others);
}

function withDetails(message: AgentMessage, details: object): AgentMessage {
  return Object.assign({}, message, { details });
}

/** Returns a result's part if it contains structured output or the state of its call, in addition to the content. */
function resultPart(message: ToolResultMessage, step: readonly object[]): object | undefined {
  const toolCallId = getCallId(toSafeString(message.toolCallId));
  const kept = toRecord(findRaw(message, "uiMessage"));
  const call = step.map(toRecord).find((part) => part["toolCallId"] === toolCallId);
  const state = isForModel({ parts: step }) ? call?.["callProviderMetadata"] : undefined;
  if (!Array.isArray(message.content) || (state === undefined && !("output" in kept))) return undefined;
  return {
    ...writeResult(message, message.toolName, toolCallId),
    ...("output" in kept && { output: jsonOutput(kept["output"]) }),
    ...(state !== undefined && { providerOptions: state }),
  };
}

/** Converts a UI message part in the same way as the SDK. */
function modelParts(part: object): object[] {
  const { type, id: _, url, providerReference, state: __, providerMetadata, ...rest } = withoutFields(part);
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  switch (type) {
    case "text":
    case "reasoning":
    case "custom":
      return [{ type, ...rest, ...options }];
    case "file":
    case "reasoning-file":
      return [{ type, ...rest, data: getPartData(url, providerReference), ...options }];
    default:
      return isToolPart(part) ? toolParts(part) : [];
  }
}

function getPartData(url: unknown, reference: unknown): object {
  return reference === undefined ? { type: "url", url } : { type: "reference", reference };
}

function toolParts(part: object): object[] {
  const { toolCallId, input, rawInput, state, output, errorText, ...rest } = withoutFields(part);
  const { resultProviderMetadata, providerExecuted } = rest;
  const callState = getCallState(part);
  const tool = { toolCallId, toolName: getToolName(part) };
  const call = {
    type: "tool-call",
    ...tool,
    input: input ?? rawInput,
    ...(providerExecuted === true && { providerExecuted }),
    ...(callState !== undefined && { providerOptions: callState }),
  };
  const isDone = state === "output-available" || state === "output-error";
  if (providerExecuted !== true || !isDone) return [call];
  const providerOptions = resultProviderMetadata ?? callState;
  return [
    call,
    {
      type: "tool-result",
      ...tool,
      output: state === "output-error" ? { type: "error-json", value: errorText } : jsonOutput(output),
      ...(providerOptions !== undefined && { providerOptions }),
    },
  ];
}

function jsonOutput(output: unknown): object {
  return { type: typeof output === "string" ? "text" : "json", value: output ?? null };
}
