import { getTexts } from "../../core/context/content-text.ts";
import { convertToLlm } from "../../core/context/convert-to-llm.ts";
import { isStoredMessage, toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { getMessageParts, toText } from "../../core/context/message-parts.ts";
import { findThinkingLevel } from "../../core/context/path-settings.ts";
import { getSystemTexts } from "../../core/context/system-message.ts";
import { isUsage } from "../../core/context/usage.ts";
import { getModelNames } from "../../core/facts/usage.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import { isJsonRecord, type JsonRecord, pickDefined } from "../../core/format/json.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";
import type { ConversionIssues } from "../convert/conversion-issue.ts";
import { OBSERVATION_CUSTOM_TYPE, OWN_EXTRA } from "../import/atif/stored-lines.ts";
import { DistinctIds } from "../import/distinct-ids.ts";
import { toIsoTime } from "../import/source-text.ts";
import type { ContentWriter } from "./content.ts";
import { findMetrics } from "./metrics.ts";
import type { AtifCall, AtifMetrics, AtifResult, AtifStep } from "./trajectory.ts";

/** Stop reasons of answers that ended normally. */
const NORMAL_ENDS: ReadonlySet<string> = new Set(["", "stop", "toolUse"]);

/** Writes the entries of a path as steps. An answer and the results of its calls form one step. */
export class StepWriter {
  readonly steps: AtifStep[] = [];
  /** Metrics of all model calls in this session, including those in steps. */
  readonly metrics: AtifMetrics[] = [];
  /** Model calls that are not part of the conversation. */
  readonly usage: JsonRecord[] = [];
  /** Entries that are not steps, each with the number of the step it follows. */
  readonly state: JsonRecord[] = [];
  /** The latest call with each call id. */
  readonly #calls = new Map<string, { readonly step: AtifStep; readonly call: AtifCall }>();
  /** For each entry, the number of the first step that begins at or after the entry. */
  readonly #stepIds = new Map<string, number>();
  readonly #content: ContentWriter;
  readonly #issues: ConversionIssues;
  #thinkingLevel: string | undefined;
  /** Model of the latest answer. */
  model: string | undefined;

  constructor(content: ContentWriter, issues: ConversionIssues) {
    this.#content = content;
    this.#issues = issues;
  }

  /** Adds an entry on the path. */
  addEntry(entry: AnySessionEntry, isCopied: boolean): void {
    this.#stepIds.set(entry.id, this.steps.length + 1);
    this.#thinkingLevel = findThinkingLevel(entry) ?? this.#thinkingLevel;
    const fields = toRecord(entry);
    const { type } = fields;
    if (type === "message" && isStoredMessage(fields["message"]))
      this.addMessage(entry, fields["message"], isCopied);
    else if (type === "custom_message") this.#addCustom(entry, fields, isCopied);
    else if (type === "compaction") this.#addCompaction(entry, isCopied);
    else if (type === "branch_summary") {
      const own = { kind: "branch_summary", from_id: fields["fromId"], usage: fields["usage"] };
      this.#add(entry, isCopied, "system", fields["summary"], own);
      this.#count(entry, isCopied);
    } else this.#addState(entry, isCopied);
  }

  /** Adds an entry's message, in its stored form or as it appears in the context. */
  addMessage(entry: AnySessionEntry, message: AgentMessage, isCopied: boolean): void {
    const fields = toRecord(message);
    switch (message.role) {
      case "user":
        this.#add(entry, isCopied, "user", message.content);
        break;
      case "system":
        this.#add(entry, isCopied, "system", getSystemTexts(message).join("\n\n"));
        break;
      case "assistant":
        this.#addAnswer(entry, fields, isCopied);
        break;
      case "toolResult":
        this.#addResult(entry, fields, isCopied);
        break;
      case "custom":
        this.#addCustom(entry, fields, isCopied);
        break;
      case "bashExecution": {
        const { role: _, timestamp: __, ...execution } = fields;
        const [said] = convertToLlm([{ ...message, excludeFromContext: false }]);
        this.#add(entry, isCopied, "user", toRecord(said)["content"], { kind: "bashExecution", execution });
        break;
      }
      case "compactionSummary":
      case "branchSummary":
        this.#add(entry, isCopied, "user", toRecord(convertToLlm([message])[0])["content"]);
        break;
      default:
        this.#report("MESSAGE_DROPPED", entry, `A message with role ${toText(fields["role"])} is omitted.`);
        this.#addState(entry, isCopied);
    }
  }

  /**
   * Returns the result of a call, for linking a subagent's trajectory to it. Adds a result if the call does not have a result
   * yet.
   */
  findResult(callId: string): AtifResult | undefined {
    const written = this.#calls.get(callId);
    if (written === undefined) return undefined;
    const { step, call } = written;
    const found = step.observation?.results.find((one) => one.source_call_id === call.tool_call_id);
    return found ?? addResult(step, { source_call_id: call.tool_call_id });
  }

  #add(
    entry: AnySessionEntry,
    isCopied: boolean,
    source: "system" | "user" | "agent",
    content: unknown,
    own?: JsonRecord,
  ): AtifStep {
    const extra = own === undefined ? undefined : { [OWN_EXTRA]: pickDefined(own) };
    const step: AtifStep = pickDefined({
      step_id: this.steps.length + 1,
      timestamp: toIsoTime(entry.timestamp),
      source,
      message: this.#content.write(content, entry.id) ?? "",
      is_copied_context: isCopied || undefined,
      extra,
    });
    this.steps.push(step);
    return step;
  }

  #addCustom(
    entry: AnySessionEntry,
    { customType, display, content, details }: JsonRecord,
    isCopied: boolean,
  ): void {
    const step = this.steps.at(-1);
    // A result without a call that follows calls could be mistaken for the result of one of them.
    const isSeen = customType === OBSERVATION_CUSTOM_TYPE && step?.source === "agent";
    if (step === undefined || !isSeen || step.tool_calls !== undefined) {
      this.#add(entry, isCopied, "user", content, { kind: "custom_message", customType, display });
      return;
    }
    const { extra } = toRecord(toRecord(details)["atif"]);
    const isExtra = isJsonRecord(extra);
    addResult(step, {
      content: this.#content.write(content, entry.id) ?? "",
      ...(isExtra && { extra: toWellFormedJson(extra) }),
    });
  }

  #addAnswer(entry: AnySessionEntry, message: JsonRecord, isCopied: boolean): void {
    const blocks = toContentBlocks(message["content"]);
    const spoken = blocks.filter((block) => !UNSPOKEN.has(toRecord(block)["type"]));
    const isText = spoken.every((block) => toRecord(block)["type"] === "text");
    const content = isText ? getTexts(spoken).join("\n\n") : spoken;
    const step = this.#add(entry, isCopied, "agent", content);
    const { model } = getModelNames({ type: "message", message });
    this.model = model ?? this.model;
    const calls = this.#writeCalls(step, message);
    const reasoning = blocks.flatMap(toReadableThinking).join("\n\n");
    Object.assign(
      step,
      pickDefined({
        model_name: model ?? undefined,
        reasoning_effort: this.#thinkingLevel,
        reasoning_content: reasoning === "" ? undefined : reasoning,
        tool_calls: calls.length === 0 ? undefined : calls,
        metrics: this.#count({ type: "message", message }, isCopied),
        extra: makeAnswerExtra(message),
      }),
    );
  }

  /** Writes the calls of an answer. Ids are made unique within the step. */
  #writeCalls(step: AtifStep, message: JsonRecord): AtifCall[] {
    const ids = new DistinctIds();
    const calls = getMessageParts(message).filter((part) => part.kind === "toolCall");
    return calls.map(({ id, name, arguments: args }, index) => {
      const newId = ids.take(toWellFormedText(id) || `call_${step.step_id}_${index + 1}`);
      const call: AtifCall = { tool_call_id: newId, function_name: toWellFormedText(name), arguments: {} };
      if (isJsonRecord(args)) call.arguments = toWellFormedJson(args);
      else if (args !== undefined) call.extra = { [OWN_EXTRA]: { arguments: args } };
      if (!this.#calls.has(id) || this.#calls.get(id)?.step !== step) this.#calls.set(id, { step, call });
      return call;
    });
  }

  #addResult(entry: AnySessionEntry, message: JsonRecord, isCopied: boolean): void {
    const { toolCallId, toolName, content, isError, usage } = message;
    const callId = toText(toolCallId);
    const written = this.#calls.get(callId);
    const isRenamed = written !== undefined && written.call.function_name !== toText(toolName);
    const own = pickDefined({
      tool_call_id: written === undefined ? callId : undefined,
      tool_name: written === undefined || isRenamed ? toText(toolName) : undefined,
      usage: isUsage(usage) ? usage : undefined,
    });
    const extra = pickDefined({
      is_error: isError === true ? true : undefined,
      timestamp: toIsoTime(entry.timestamp),
      [OWN_EXTRA]: Object.keys(own).length === 0 ? undefined : own,
    });
    const result: AtifResult = pickDefined({
      source_call_id: written?.call.tool_call_id,
      content: this.#content.write(content, entry.id),
      extra,
    });
    this.#count({ type: "message", message }, isCopied);
    if (written !== undefined) {
      addResult(written.step, result);
      return;
    }
    this.#report(
      "PAIR_REPAIRED",
      entry,
      "A tool result is not preceded by its call, so its step contains no call.",
    );
    const step = this.#add(entry, isCopied, "agent", undefined);
    step.llm_call_count = 0;
    addResult(step, result);
  }

  #addCompaction(entry: AnySessionEntry, isCopied: boolean): void {
    const { summary, firstKeptEntryId, tokensBefore, usage, systemMessage, retainedTail } = toRecord(entry);
    const kept = this.#stepIds.get(toText(firstKeptEntryId));
    const own = {
      kind: "compaction",
      first_kept: typeof firstKeptEntryId === "string" ? firstKeptEntryId : undefined,
      first_kept_step: kept === undefined || kept > this.steps.length ? undefined : kept,
      tokens_before: tokensBefore,
      usage: isUsage(usage) ? usage : undefined,
      system_message: systemMessage,
      retained_tail: retainedTail,
    };
    this.#add(entry, isCopied, "system", toText(summary), own);
    this.#count(entry, isCopied);
  }

  #addState(entry: AnySessionEntry, isCopied: boolean): void {
    const { id: _, parentId: __, ...stored } = toRecord(entry);
    if (entry.type !== "usage") {
      this.state.push({ after_step: this.steps.length, entry: stored });
      return;
    }
    this.#count(entry, isCopied);
    if (!isCopied) this.usage.push(stored);
  }

  /** Returns an entry's metrics, and counts them unless another session already counts them. */
  #count(entry: AnySessionEntry | JsonRecord, isCopied: boolean): AtifMetrics | undefined {
    const metrics = findMetrics(entry);
    if (metrics !== undefined && !isCopied) this.metrics.push(metrics);
    return metrics;
  }

  #report(code: "MESSAGE_DROPPED" | "PAIR_REPAIRED", { id }: AnySessionEntry, message: string): void {
    this.#issues.report(code, -1, message, { entryId: id });
  }
}

/** Types of answer blocks that have their own field. */
const UNSPOKEN: ReadonlySet<unknown> = new Set(["thinking", "toolCall"]);

function toReadableThinking(block: unknown): string[] {
  const { type, thinking, redacted } = toRecord(block);
  const text = toWellFormedText(toText(thinking));
  return type === "thinking" && redacted !== true && text !== "" ? [text] : [];
}

function makeAnswerExtra(message: JsonRecord): JsonRecord | undefined {
  const { stopReason, errorMessage, provider, api, responseModel } = message;
  const reason = toText(stopReason);
  const own = pickDefined({ provider, api, response_model: responseModel });
  const extra = pickDefined({
    stop_reason: NORMAL_ENDS.has(reason) ? undefined : reason,
    error_message: toText(errorMessage) === "" ? undefined : toWellFormedText(toText(errorMessage)),
    [OWN_EXTRA]: Object.keys(own).length === 0 ? undefined : own,
  });
  return Object.keys(extra).length === 0 ? undefined : extra;
}

/** Position of each call in a step, computed only once. */
const ORDERS = new WeakMap<readonly AtifCall[], ReadonlyMap<string, number>>();

function getCallOrder(calls: readonly AtifCall[] = []): ReadonlyMap<string, number> {
  return getOrAdd(ORDERS, calls, () => new Map(calls.map(({ tool_call_id: id }, index) => [id, index])));
}

/** Adds a result, keeping results in the order of their calls. */
function addResult(step: AtifStep, result: AtifResult): AtifResult {
  step.observation ??= { results: [] };
  const { results } = step.observation;
  const order = getCallOrder(step.tool_calls);
  const place = (one: AtifResult) => order.get(one.source_call_id ?? "") ?? -1;
  // Results usually arrive in the order of their calls, so searching backward is fast.
  const before = results.findLastIndex((other) => place(other) <= place(result));
  results.splice(before + 1, 0, result);
  return result;
}

/** Maximum depth at which strings are searched. Deeper values remain unchanged. */
const MAX_DEPTH = 100;

/** Returns JSON without lone surrogates in its strings. */
function toWellFormedJson(value: JsonRecord, depth = 0): JsonRecord {
  const fields = Object.entries(value).map(
    ([name, one]) => [name, toWellFormedValue(one, depth + 1)] as const,
  );
  return Object.fromEntries(fields);
}

function toWellFormedValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return toWellFormedText(value);
  if (depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((one) => toWellFormedValue(one, depth + 1));
  return isJsonRecord(value) ? toWellFormedJson(value, depth) : value;
}
