import { toArray, toCount, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { isUsage } from "../../../core/context/usage.ts";
import type { ToolCall, Usage } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord, type JsonValue, pickDefined } from "../../../core/format/json.ts";
import {
  type AssistantMessage,
  type StopReason,
  type ThinkingLevel,
  type ToolDeclaration,
  UNKNOWN_NAME,
} from "../../../core/format/message.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { toUsage } from "../../convert/answer.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { parseArguments } from "../../convert/tool-arguments.ts";
import {
  type EntryBody,
  makeCustom,
  makeCustomMessage,
  makeSubagentLink,
  makeToolResult,
  makeUsageEntry,
  toFilled,
} from "../entry-bodies.ts";
import type { Draft, SessionBuilder, UntimedMessage } from "../session-builder.ts";
import { isPresent, makeLeftOutIssue, toIsoTime, toNonemptyText } from "../source-text.ts";
import { convertContent, type ReadAsset } from "./step-content.ts";
import { getOwnExtra, OBSERVATION_CUSTOM_TYPE, OWN_EXTRA } from "./stored-lines.ts";

/** Context needed to read a trajectory's steps. */
export interface StepScene {
  readonly agent: JsonRecord;
  /** Sessiontree entries that are not steps, each with the number of the step it follows. */
  readonly state: readonly unknown[];
  readonly readAsset: ReadAsset | undefined;
  /** Returns the id of an embedded subagent's session; undefined if it is not embedded. */
  readonly getSessionId: (trajectoryId: string) => string | undefined;
}

const STOP_REASONS: readonly StopReason[] = [
  "stop",
  "length",
  "toolUse",
  "error",
  "aborted",
  "deferred",
  "pending",
];

const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Fields that are included in a message. Other fields are kept in its details. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  ...["step_id", "timestamp", "source", "message", "model_name", "reasoning_content", "tool_calls"],
  ...["observation", "metrics", "extra", "llm_call_count"],
]);

/** Converts the steps of one trajectory to entries. */
export class StepReader {
  readonly #builder: SessionBuilder;
  readonly #scene: StepScene;
  /** First entry created from each step, by step number. */
  readonly #drafts = new Map<number, Draft>();
  /** Tool names by call id. */
  readonly #tools = new Map<string, string>();
  readonly #state: readonly JsonRecord[];
  #stateAt = 0;
  #tip: Draft | undefined;

  constructor(builder: SessionBuilder, scene: StepScene) {
    this.#builder = builder;
    this.#scene = scene;
    this.#state = scene.state.filter(isJsonRecord);
    const toolsAdded = readTools(scene.agent["tool_definitions"]);
    if (toolsAdded.length > 0) this.#addMessage({ role: "system", content: "", toolsAdded }, undefined);
    this.#addState(0);
  }

  /** Adds the entries for a step. */
  read(step: JsonRecord, index: number): void {
    const before = this.#tip;
    if (step["source"] === "agent") this.#readAgentStep(step, index);
    else if (step["source"] === "system") this.#readSystemStep(step, index);
    else if (step["source"] === "user") this.#readUserStep(step, index);
    else this.#keepStep(step, index);
    if (step["source"] !== "agent") this.#readResults(step, [], index);
    if (this.#tip !== before && !this.#drafts.has(index + 1)) this.#setDraft(index + 1);
    this.#addState(index + 1);
  }

  /** Adds model calls that are not part of the conversation. */
  addUsage(records: readonly unknown[]): void {
    for (const record of records) {
      const { kind, provider, model, usage, note, timestamp } = toRecord(record);
      if (!isUsage(usage)) continue;
      const [by, name] = [toText(provider) || UNKNOWN_NAME, toText(model) || UNKNOWN_NAME];
      const body = makeUsageEntry(
        toText(kind) || "other",
        by,
        name,
        readStoredUsage(usage),
        toNonemptyText(note),
      );
      this.#add(body, timestamp);
    }
  }

  #readUserStep(step: JsonRecord, index: number): void {
    const { kind, customType, display, execution } = getOwnExtra(step);
    const { blocks, replaced } = convertContent(step["message"], this.#scene.readAsset);
    this.#reportReplaced(replaced, index);
    const details = getDetails(step, replaced);
    const content = typeof step["message"] === "string" ? step["message"] : blocks;
    if (kind === "bashExecution" && isJsonRecord(execution) && typeof execution["command"] === "string")
      this.#addMessage(readExecution(execution, execution["command"]), step["timestamp"]);
    else if (kind === "custom_message")
      this.#add(
        makeCustomMessage(toText(customType) || "custom", content, display === true, details),
        step["timestamp"],
      );
    else this.#addMessage(pickDefined({ role: "user" as const, content, details }), step["timestamp"]);
  }

  #readSystemStep(step: JsonRecord, index: number): void {
    const own = getOwnExtra(step);
    const { blocks, replaced } = convertContent(step["message"], this.#scene.readAsset);
    this.#reportReplaced(replaced, index);
    const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const text = texts.join("\n\n");
    const kind = own["kind"] ?? toRecord(step["extra"])["kind"];
    if (kind === "compaction") this.#addCompaction(step, own, text);
    else if (kind === "branch_summary") {
      const usage = isUsage(own["usage"]) && !isCopied(step) ? readStoredUsage(own["usage"]) : undefined;
      const fromId = toText(own["from_id"]) || "root";
      this.#add(pickDefined({ type: "branch_summary", fromId, summary: text, usage }), step["timestamp"]);
    } else {
      const details = getDetails(step, replaced);
      this.#addMessage(pickDefined({ role: "system" as const, content: text, details }), step["timestamp"]);
    }
  }

  #addCompaction(step: JsonRecord, own: JsonRecord, summary: string): void {
    const kept = this.#drafts.get(toNumber(own["first_kept_step"]));
    const { usage, system_message: system, retained_tail: tail } = own;
    const body = pickDefined({
      type: "compaction",
      summary,
      firstKeptEntryId: kept?.id,
      tokensBefore: toCount(own["tokens_before"]),
      usage: isUsage(usage) && !isCopied(step) ? readStoredUsage(usage) : undefined,
      systemMessage: toRecord(system)["role"] === "system" ? system : undefined,
      retainedTail: Array.isArray(tail)
        ? tail.filter((one) => typeof toRecord(one)["role"] === "string")
        : undefined,
      details: getDetails(step, []),
    });
    this.#add(body, step["timestamp"]);
  }

  #readAgentStep(step: JsonRecord, index: number): void {
    const { blocks, replaced } = convertContent(step["message"], this.#scene.readAsset);
    const images = blocks.filter(({ type }) => type === "image").length;
    if (images > 0)
      replaced.push(
        ...toArray(step["message"])
          .map(toRecord)
          .filter(({ type }) => type === "image"),
      );
    this.#reportReplaced(replaced, index);
    const thinking = toText(step["reasoning_content"]);
    const calls = this.#readCalls(step, index);
    const content: AssistantMessage["content"] = [
      ...(thinking === "" ? [] : [{ type: "thinking" as const, thinking }]),
      ...blocks.map((block) => (block.type === "text" ? block : { type: "text" as const, text: "[image]" })),
      ...calls,
    ];
    const isOnlyResult = content.length === 0 && step["observation"] !== undefined && !isAnswer(step);
    if (!isOnlyResult) this.#addMessage(this.#makeAnswer(step, content, replaced), step["timestamp"]);
    if (!isOnlyResult) this.#setDraft(index + 1);
    this.#readResults(step, calls, index);
  }

  #makeAnswer(
    step: JsonRecord,
    content: AssistantMessage["content"],
    replaced: JsonRecord[],
  ): UntimedMessage {
    const extra = toRecord(step["extra"]);
    const { provider, api, response_model: responseModel } = getOwnExtra(step);
    const isCalling = content.some(({ type }) => type === "toolCall");
    return pickDefined({
      role: "assistant" as const,
      content,
      api: toText(api) || UNKNOWN_NAME,
      provider: toText(provider) || UNKNOWN_NAME,
      model: toText(step["model_name"]) || toText(this.#scene.agent["model_name"]) || UNKNOWN_NAME,
      responseModel: toNonemptyText(responseModel),
      thinkingLevel: THINKING_LEVELS.find((level) => level === step["reasoning_effort"]),
      usage: isCopied(step) ? toUsage() : readMetrics(toRecord(step["metrics"])),
      stopReason:
        STOP_REASONS.find((one) => one === extra["stop_reason"]) ?? (isCalling ? "toolUse" : "stop"),
      errorMessage: toNonemptyText(extra["error_message"]),
      details: getDetails(step, replaced),
    });
  }

  #readCalls(step: JsonRecord, index: number): ToolCall[] {
    return toArray(step["tool_calls"])
      .filter(isJsonRecord)
      .map((call, place) => {
        const id = toNonemptyText(call["tool_call_id"]) ?? `call_${index + 1}_${place + 1}`;
        const name = toNonemptyText(call["function_name"]) ?? UNKNOWN_NAME;
        this.#tools.set(id, name);
        const args = parseArguments(call["arguments"]);
        if (args === undefined && call["arguments"] !== undefined)
          this.#report(`The arguments of call ${id} in step ${index + 1} are not an object.`);
        return { type: "toolCall" as const, id, name, arguments: args ?? {} };
      });
  }

  #readResults(step: JsonRecord, calls: readonly ToolCall[], index: number): void {
    const results = toArray(toRecord(step["observation"])["results"]).filter(isJsonRecord);
    // Some programs omit the call id if there is only one call.
    const only = calls.length === 1 && results.length === 1 ? calls[0]?.id : undefined;
    for (const result of results) {
      const own = getOwnExtra(result);
      const named = toNonemptyText(result["source_call_id"]) ?? toNonemptyText(own["tool_call_id"]);
      this.#readResult(result, named ?? only, step, index);
    }
  }

  #readResult(result: JsonRecord, callId: string | undefined, step: JsonRecord, index: number): void {
    const { source_call_id: _, content, extra, subagent_trajectory_ref: refs, ...rest } = result;
    const { is_error: isError, timestamp, [OWN_EXTRA]: __, ...others } = toRecord(extra);
    const { blocks, replaced } = convertContent(content, this.#scene.readAsset);
    this.#reportReplaced(replaced, index);
    const atif = toFilled({
      ...rest,
      ...(toFilled(others) && { extra: others }),
      ...(replaced.length > 0 && { replaced }),
    });
    const own = getOwnExtra(result);
    const time = toIsoTime(timestamp) ?? step["timestamp"];
    const isLink = Array.isArray(refs) && content === undefined && extra === undefined && atif === undefined;
    // A tool result that had no call in the original session remains a tool result.
    const id = callId ?? (typeof own["tool_call_id"] === "string" ? "" : undefined);
    const toolName =
      toNonemptyText(own["tool_name"]) ?? this.#tools.get(id ?? "") ?? toText(own["tool_name"]);
    if (id === undefined || (toolName === "" && own["tool_name"] === undefined))
      this.#addObservation(blocks, atif, time);
    else if (!isLink) {
      const details = atif && { atif };
      const message = makeToolResult({
        toolCallId: id,
        toolName,
        content: blocks,
        details,
        isError: isError === true,
      });
      const usage = isUsage(own["usage"]) && !isCopied(step) ? readStoredUsage(own["usage"]) : undefined;
      this.#addMessage(pickDefined({ ...message, usage }), time);
    }
    for (const ref of toArray(refs)) this.#linkSubagent(toRecord(ref), callId);
  }

  /** Adds an observation that does not belong to a call. */
  #addObservation(blocks: readonly UserBlock[], atif: JsonRecord | undefined, time: unknown): void {
    const details = atif && { atif };
    this.#add(makeCustomMessage(OBSERVATION_CUSTOM_TYPE, blocks, true, details), time);
  }

  #linkSubagent(ref: JsonRecord, toolCallId: string | undefined): void {
    const { trajectory_id: id, session_id: session, trajectory_path: path } = ref;
    const agentId = toNonemptyText(id) ?? toNonemptyText(session) ?? toNonemptyText(path);
    if (agentId === undefined) return;
    const sessionId = this.#scene.getSessionId(agentId);
    this.#add(makeSubagentLink({ agentId, toolCallId, sessionId, path: toNonemptyText(path) }), undefined);
  }

  #keepStep(step: JsonRecord, index: number): void {
    this.#report(`Step ${index + 1} has the source ${encodeParsed(step["source"])}; it was kept unchanged.`);
    this.#builder.counts.kept++;
    this.#add(makeCustom("atif.step", step), step["timestamp"]);
  }

  /** Adds the sessiontree entries that follow a step. */
  #addState(stepId: number): void {
    for (; this.#stateAt < this.#state.length; this.#stateAt++) {
      const { after_step: after, entry } = toRecord(this.#state[this.#stateAt]);
      if (toNumber(after) > stepId) return;
      const { type, customType, data, name, timestamp } = toRecord(entry);
      if (type === "custom" && typeof customType === "string")
        this.#add(makeCustom(customType, data), timestamp);
      else if (type === "session_info" && typeof name === "string") this.#add({ type, name }, timestamp);
      else this.#add(makeCustom("atif.state", entry), timestamp);
    }
  }

  #addMessage(message: UntimedMessage, time: unknown): void {
    const key = this.#makeKey(message);
    this.#tip = this.#builder.addMessage(key, this.#tip, time, message);
  }

  #add(body: EntryBody, time: unknown): void {
    this.#tip = this.#builder.add(this.#makeKey(body), this.#tip, time, body);
  }

  /** Returns a key that depends on all previous entries. */
  #makeKey(body: object): string {
    return `atif ${(this.#tip ?? this.#builder.tip).id} ${encodeParsed(body)}`;
  }

  #setDraft(stepId: number): void {
    if (this.#tip !== undefined) this.#drafts.set(stepId, this.#tip);
  }

  #reportReplaced(replaced: readonly JsonRecord[], index: number): void {
    for (const { type } of replaced)
      this.#report(
        `Step ${index + 1} has a part of type ${encodeParsed(type)} that is missing or cannot be part of its message; it was replaced with text.`,
      );
  }

  #report(message: string): void {
    this.#builder.issues.push(makeLeftOutIssue(message));
  }
}

/** Returns whether an agent step without content is a model's answer. */
function isAnswer(step: JsonRecord): boolean {
  return (
    step["metrics"] !== undefined ||
    toRecord(step["extra"])["stop_reason"] !== undefined ||
    isAnswerOfSession(step)
  );
}

function isAnswerOfSession(step: JsonRecord): boolean {
  return Object.keys(getOwnExtra(step)).length > 0;
}

/** Returns whether a step repeats another document's step, whose usage is already counted there. */
function isCopied(step: JsonRecord): boolean {
  return step["is_copied_context"] === true;
}

/** Returns the fields of a step that its message cannot contain. */
function getDetails(step: JsonRecord, replaced: readonly JsonRecord[]): JsonValue | undefined {
  const unknown = Object.entries(step).filter(([name]) => !READ_FIELDS.has(name));
  const { [OWN_EXTRA]: _, stop_reason: __, error_message: ___, ...extra } = toRecord(step["extra"]);
  const {
    prompt_tokens: _p,
    completion_tokens: _c,
    cached_tokens: _r,
    cost_usd: _u,
    ...metrics
  } = toRecord(step["metrics"]);
  const fields = toFilled({
    ...Object.fromEntries(unknown),
    ...(toFilled(extra) && { extra }),
    ...(isCopied(step)
      ? step["metrics"] !== undefined && { metrics: step["metrics"] }
      : toFilled(metrics) && { metrics }),
    ...(replaced.length > 0 && { replaced }),
  });
  const details: unknown = fields && { atif: fields };
  return isPresent(details) ? details : undefined;
}

/** Converts metrics. The number of input tokens includes cached tokens. */
function readMetrics(metrics: JsonRecord): Usage {
  const extra = toRecord(metrics["extra"]);
  const usage = toUsage({
    inputWithCache: metrics["prompt_tokens"],
    output: metrics["completion_tokens"],
    cacheRead: metrics["cached_tokens"],
    cacheWrite: extra["cache_write_tokens"],
    cacheWrite1h: extra["cache_write_1h_tokens"],
    reasoning: extra["reasoning_tokens"],
    total: extra["total_tokens"],
    cost: metrics["cost_usd"],
  });
  if (extra["cost_from_provider"] === true) usage.cost.totalFromProvider = true;
  return usage;
}

/** Normalizes usage that a document stores in sessiontree's own format. */
function readStoredUsage(stored: Usage): Usage {
  const { totalTokens, cost, ...counts } = toRecord(stored);
  const { total, input, output, cacheRead, cacheWrite, totalFromProvider } = toRecord(cost);
  const sum = [input, output, cacheRead, cacheWrite].reduce<number>((all, part) => all + toNumber(part), 0);
  const usage = toUsage({ ...counts, total: totalTokens, cost: typeof total === "number" ? total : sum });
  if (totalFromProvider === true) usage.cost.totalFromProvider = true;
  return usage;
}

function readExecution(execution: JsonRecord, command: string): UntimedMessage {
  const { output, exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = execution;
  const path = toNonemptyText(fullOutputPath);
  return {
    role: "bashExecution",
    command,
    output: toText(output),
    exitCode: typeof exitCode === "number" ? exitCode : undefined,
    cancelled: cancelled === true,
    truncated: truncated === true,
    ...(path !== undefined && { fullOutputPath: path }),
    ...(excludeFromContext === true && { excludeFromContext }),
  };
}

function readTools(definitions: unknown): ToolDeclaration[] {
  return toArray(definitions).flatMap((definition) => {
    const record = toRecord(definition);
    const { name, description, parameters } = isJsonRecord(record["function"]) ? record["function"] : record;
    if (typeof name !== "string") return [];
    return { name, description: toText(description), parameters: toRecord(parameters) };
  });
}
