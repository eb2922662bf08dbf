import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { chooseStopReason, toUsage } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { fromGemini } from "../../convert/gemini/from-gemini.ts";
import { findLeaf, type RecordNode } from "../claude-code/record-graph.ts";
import {
  addBlocks,
  makeCustom,
  makeCustomMessage,
  makeSubagentLink,
  makeToolResult,
  makeUsageEntry,
} from "../entry-bodies.ts";
import { convertModelMessage, convertSentParts, OpenCalls } from "../gemini/parts.ts";
import { type Draft, makeEntryId, type SessionBuilder } from "../session-builder.ts";
import { getMember, joinContentText, toIsoTime, toNonemptyText } from "../source-text.ts";
import { type CallReport, CallReports, convertAnswerTokens, getIdentity } from "./call-reports.ts";

/** Destination and context for an agent's entries. */
interface Target {
  readonly builder: SessionBuilder;
  /** Subagents whose answers are among the records, by id. */
  readonly agents: ReadonlyMap<string, Subagent>;
  /** Fields of a report on one of the agent's calls, which is stored in another agent's records. */
  readonly calls: JsonRecord;
}

/** A subagent with a transcript. */
export interface Subagent {
  readonly agentId: string;
  readonly sessionId: string;
  readonly toolCallId: string | undefined;
  readonly nickname: string | undefined;
  /** Fields of the report on one of the subagent's calls. */
  calls: JsonRecord;
}

/** Adds the entries for an agent's records, in file order except where a record precedes its parent. */
export function emitThread(nodes: readonly RecordNode[], target: Target): void {
  new ThreadEmitter(nodes, target).emit();
}

/** Fields of an answer that a later record may extend. */
type AnswerState = Pick<AssistantMessage, "content" | "stopReason">;

/** First and last entry of a record. For a record without entries, the parent's first and last entries. */
interface Emitted {
  readonly first: Draft | undefined;
  readonly last: Draft | undefined;
}

const NOTHING: Emitted = { first: undefined, last: undefined };

/** Subtypes of records that repeat other records, and the reason why each is omitted. */
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ["attribution_snapshot", "count of the characters that the model wrote"],
  ["session_sources_snapshot", "list of what started the session"],
  ["parent_session", "name of the session that started this one"],
]);

const TYPED: ReadonlySet<unknown> = new Set([undefined, "mid_turn_user_message", "agent_launch_prompt"]);

class ThreadEmitter {
  readonly #nodes: readonly RecordNode[];
  readonly #own: ReadonlySet<RecordNode>;
  readonly #builder: SessionBuilder;
  readonly #reports: CallReports;
  /** Subagents by the id of the call that started them. */
  readonly #started: ReadonlyMap<string | undefined, Subagent>;
  readonly #calls: JsonRecord;
  /** The last answer, which a later record may extend. */
  #answer: { readonly draft: Draft; readonly message: AnswerState } | undefined;
  readonly #open = new OpenCalls();
  readonly #emitted = new Map<RecordNode, Emitted>();
  #name: string | undefined;

  constructor(nodes: readonly RecordNode[], { builder, agents, calls }: Target) {
    this.#nodes = nodes;
    this.#own = new Set(nodes);
    this.#builder = builder;
    this.#reports = new CallReports(nodes, agents);
    this.#started = new Map(Array.from(agents.values(), (agent) => [agent.toolCallId, agent]));
    this.#calls = calls;
  }

  emit(): void {
    for (const node of this.#nodes) this.#emitFrom(node);
    const leaf = findLeaf(this.#nodes);
    this.#builder.markLeaf(leaf && this.#emitted.get(leaf)?.last);
  }

  /** Adds the entries for a record, after the entries for its ancestors. */
  #emitFrom(node: RecordNode): void {
    const line: RecordNode[] = [];
    for (let at: RecordNode | undefined = node; at !== undefined && !this.#emitted.has(at); ) {
      this.#emitted.set(at, NOTHING);
      line.push(at);
      at = this.#findParent(at);
    }
    for (const one of line.reverse()) {
      const parent = this.#findParent(one);
      const above = parent && this.#emitted.get(parent)?.last;
      const made = this.#emit(one, above);
      this.#emitted.set(one, { first: made.first ?? above, last: made.last ?? above });
    }
  }

  /** Returns a record's nearest ancestor that belongs to the same agent. */
  #findParent({ parent }: RecordNode): RecordNode | undefined {
    let at = parent;
    while (at !== undefined && !this.#own.has(at)) at = at.parent;
    return at;
  }

  #emit(node: RecordNode, above: Draft | undefined): Emitted {
    const { value, message } = node;
    if (isJsonRecord(value["toolCallResult"]) || hasResponse(message)) return this.#emitResults(node, above);
    switch (node.type) {
      case "user":
        return this.#emitPrompt(node, above);
      case "assistant":
        return this.#emitAnswer(node, above);
      case "system":
        return this.#emitSystem(node, above);
      default:
        return this.#keep(node, above, node.type);
    }
  }

  #keep(node: RecordNode, above: Draft | undefined, kind: string): Emitted {
    const { systemPayload, message } = node.value;
    return emitWhole(this.#builder.keep(node.uuid, above, getTime(node), kind, systemPayload ?? message));
  }

  #drop(reason: string): Emitted {
    this.#builder.drop(reason);
    return NOTHING;
  }

  #emitPrompt(node: RecordNode, above: Draft | undefined): Emitted {
    const { subtype } = node.value;
    const content = convertSentParts(node.message["parts"]);
    if (!TYPED.has(subtype)) {
      const body = makeCustomMessage(`qwen.${toNonemptyText(subtype) ?? "note"}`, content, true);
      return emitWhole(this.#builder.add(node.uuid, above, getTime(node), body));
    }
    return emitWhole(this.#builder.addMessage(node.uuid, above, getTime(node), { role: "user", content }));
  }

  #emitAnswer(node: RecordNode, above: Draft | undefined): Emitted {
    const { message, value } = node;
    const answer = convertModelMessage({ id: node.uuid, content: message["parts"] });
    const isRest = value["usageMetadata"] === undefined && answer.content.every(isCall);
    // In transcripts of subagents, the calls of an answer are in a separate record.
    if (isRest && answer.content.length > 0 && this.#answer !== undefined && this.#answer.draft === above) {
      addBlocks(this.#answer.message, answer.content);
      this.#open.add(answer.calls);
      return emitWhole(above);
    }
    const report = this.#takeReport(node);
    const { responseId, authType = this.#calls["auth_type"] } = report ?? {};
    const said = {
      role: "assistant" as const,
      content: answer.content,
      ...getIdentity(authType),
      model: toNonemptyText(value["model"]) ?? toNonemptyText(this.#calls["model"]) ?? UNKNOWN_NAME,
      ...(responseId !== undefined && { responseId }),
      usage: convertAnswerTokens(getMember(value, "usageMetadata")),
      stopReason: chooseStopReason("stop", answer.content),
    };
    const first = this.#builder.addMessage(node.uuid, above, getTime(node), said);
    this.#answer = { draft: first, message: said };
    this.#open.begin(answer.calls);
    if (answer.others.length === 0) return emitWhole(first);
    const body = makeCustom("qwen.parts", { parts: answer.others });
    return { first, last: this.#builder.add(`${node.uuid} parts`, first, getTime(node), body) };
  }

  /**
   * Returns the report on a record's call, and withdraws the entry that an earlier import, without this record, created for the
   * report.
   */
  #takeReport(node: RecordNode): CallReport | undefined {
    const report = this.#reports.ofTeller(node);
    if (report !== undefined) this.#builder.withdraw(makeEntryId(report.uuid));
    return report;
  }

  #emitResults(node: RecordNode, above: Draft | undefined): Emitted {
    const { callId, status, ...rest } = getMember(node.value, "toolCallResult");
    const parts = toArray(node.message["parts"]).map(toRecord);
    const responses = parts.filter((part) => part["functionResponse"] !== undefined);
    const others = convertSentParts(parts.filter((part) => part["functionResponse"] === undefined));
    let emitted: Emitted = { first: undefined, last: above };
    for (const [i, part] of responses.entries()) {
      const { id, name } = getMember(part, "functionResponse");
      const named = toNonemptyText(id) ?? toNonemptyText(callId);
      const isLast = i === responses.length - 1;
      const content = [...convertSentParts([part]), ...(isLast ? others : [])];
      const toolName = toNonemptyText(name) ?? "unknown";
      const result = makeToolResult({
        toolCallId: this.#open.takeAnswered(named, toNonemptyText(name))?.id ?? named ?? "",
        toolName,
        content,
        details: isLast ? { status, ...rest } : undefined,
        isError: status === "error" || status === "cancelled" || hasFailed(toolName, content),
      });
      const key = i === 0 ? node.uuid : `${node.uuid} ${i}`;
      const draft = this.#builder.addMessage(key, emitted.last, getTime(node), result);
      emitted = { first: emitted.first ?? draft, last: this.#linkAgent(result.toolCallId, draft) };
    }
    return emitted.first === undefined ? this.#keep(node, above, "tool_result") : emitted;
  }

  /** Adds a link to the subagent that a call started. */
  #linkAgent(toolCallId: string, result: Draft): Draft {
    const agent = this.#started.get(toolCallId);
    if (agent === undefined) return result;
    const { agentId, sessionId } = agent;
    const link = makeSubagentLink({ agentId, toolCallId, sessionId });
    return this.#builder.add(`qwen agent ${agentId}`, result, undefined, link);
  }

  #emitSystem(node: RecordNode, above: Draft | undefined): Emitted {
    const payload = getMember(node.value, "systemPayload");
    const subtype = toNonemptyText(node.value["subtype"]) ?? "system";
    switch (subtype) {
      case "ui_telemetry":
        return this.#emitTelemetry(node, getMember(payload, "uiEvent"), above);
      case "chat_compression":
        return this.#emitCompaction(node, payload, above);
      case "rewind":
        return NOTHING;
      case "custom_title":
        return this.#emitName(node, payload);
      case "session_model": {
        const { modelId, authType } = payload;
        if (toNonemptyText(modelId) === undefined) return this.#keep(node, above, subtype);
        const body = { type: "model_change", provider: getIdentity(authType).provider, modelId };
        return emitWhole(this.#builder.add(node.uuid, above, getTime(node), body));
      }
      default: {
        const reason = LEFT_OUT.get(subtype);
        return reason === undefined ? this.#keep(node, above, subtype) : this.#drop(reason);
      }
    }
  }

  /** Names the session. Qwen Code repeats the name each time it starts. */
  #emitName(node: RecordNode, { customTitle, titleSource }: JsonRecord): Emitted {
    const name = toNonemptyText(customTitle);
    if (name === undefined || name === this.#name) return this.#drop("repeated title");
    this.#name = name;
    this.#builder.addName(node.uuid, name, titleSource !== "auto");
    return NOTHING;
  }

  #emitTelemetry(node: RecordNode, event: JsonRecord, above: Draft | undefined): Emitted {
    const report = this.#reports.at(node);
    if (report !== undefined) {
      if (report.isTold) return this.#drop("report of a call that an answer has");
      const { usage, model, agent, responseId, authType } = report;
      const { provider } = getIdentity(authType);
      const body = makeUsageEntry(`qwen.${agent ?? "call"}`, provider, model, usage, responseId);
      return emitWhole(this.#builder.add(node.uuid, above, getTime(node), body));
    }
    if (event["event.name"] !== "qwen-code.api_error")
      return this.#drop("report of a call that an answer has");
    return this.#emitError(node, event, above);
  }

  #emitError(node: RecordNode, event: JsonRecord, above: Draft | undefined): Emitted {
    const { error_message: message, error_type: type, auth_type: authType } = event;
    const draft = this.#builder.addMessage(node.uuid, above, getTime(node), {
      role: "assistant",
      content: [],
      ...getIdentity(authType),
      model: toNonemptyText(event["model"]) ?? UNKNOWN_NAME,
      usage: toUsage(),
      stopReason: toSafeString(type).includes("Abort") ? "aborted" : "error",
      errorMessage: toNonemptyText(message) ?? toNonemptyText(type) ?? "The call failed.",
    });
    return emitWhole(draft);
  }

  #emitCompaction(node: RecordNode, payload: JsonRecord, above: Draft | undefined): Emitted {
    const [summary = {}, ...rest] = toArray(payload["compressedHistory"]).map(toRecord);
    const kept = isThanks(rest[0]) ? rest.slice(1) : rest;
    const firstKept = kept.length === 0 ? undefined : this.#firstKept(node, kept);
    const report = this.#takeReport(node);
    const { originalTokenCount, newTokenCount } = getMember(payload, "info");
    const draft = this.#builder.add(node.uuid, above, getTime(node), {
      type: "compaction",
      summary: joinContentText(summary["parts"]),
      firstKeptEntryId: firstKept?.id,
      tokensBefore: typeof originalTokenCount === "number" ? originalTokenCount : 0,
      details: { source: "qwen", ...(typeof newTokenCount === "number" && { postTokens: newTokenCount }) },
      ...(report !== undefined && { usage: report.usage }),
    });
    if (kept.length > 0 && firstKept === undefined) {
      const timestamp = Date.parse(toIsoTime(getTime(node)) ?? "") || 0;
      const contents = kept.map(({ role, parts }) => ({
        role: role === "model" ? role : "user",
        parts: toArray(parts).filter(isJsonRecord),
      }));
      draft["retainedTail"] = fromGemini(contents, { timestamp }).messages;
    }
    return emitWhole(draft);
  }

  /** Finds the first entry of the messages that a compaction keeps, if they directly precede it; undefined otherwise. */
  #firstKept(compaction: RecordNode, kept: readonly JsonRecord[]): Draft | undefined {
    const rest = [...kept];
    for (let at = this.#findParent(compaction); at !== undefined; at = this.#findParent(at)) {
      if (!Array.isArray(at.message["parts"])) continue;
      if (encodeParsed(at.message["parts"]) !== encodeParsed(rest.at(-1)?.["parts"] ?? null))
        return undefined;
      rest.pop();
      if (rest.length === 0) return this.#emitted.get(at)?.first;
    }
    return undefined;
  }
}

function isCall({ type }: AnswerBlock): boolean {
  return type === "toolCall";
}

function emitWhole(draft: Draft): Emitted {
  return { first: draft, last: draft };
}

function getTime({ value }: RecordNode): unknown {
  return value["timestamp"];
}

function hasResponse(message: JsonRecord): boolean {
  return toArray(message["parts"]).some((part) => toRecord(part)["functionResponse"] !== undefined);
}

/** Returns whether content only acknowledges a summary. The model did not write such content. */
function isThanks(content: JsonRecord | undefined): boolean {
  return content?.["role"] === "model" && joinContentText(content["parts"]).startsWith("Got it.");
}

/** Returns whether a command failed. Qwen Code always reports success and appends the exit code to the output. */
function hasFailed(toolName: string, content: readonly UserBlock[]): boolean {
  if (toolName !== "run_shell_command") return false;
  const codes = [
    ...getTexts(content)
      .join("\n")
      .matchAll(/^Exit Code: (-?\d+)$/gm),
  ];
  const [, code = "0"] = codes.at(-1) ?? [];
  return code !== "0";
}
