import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toCount, toUsage } from "../../convert/answer.ts";
import type { RecordNode } from "../claude-code/record-graph.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** The program's report of a model call, which precedes the answer. */
export interface CallReport {
  /** Key of the record. */
  readonly uuid: string;
  readonly usage: Usage;
  readonly model: string;
  readonly responseId: string | undefined;
  /** Authentication method of the user, which identifies the provider. */
  readonly authType: string | undefined;
  /** The subagent that made the call, or the part of the program. */
  readonly agent: string | undefined;
  /** Whether an answer or a summary reports the call. */
  isTold: boolean;
}

/** The reports among the records of an agent. */
export class CallReports {
  readonly #reports = new Map<RecordNode, CallReport>();
  readonly #byTeller = new Map<RecordNode, CallReport>();

  /** @param agents - Agents whose answers are among the records, by their ids. */
  constructor(nodes: readonly RecordNode[], agents: ReadonlyMap<string, unknown>) {
    let open: CallReport | undefined;
    for (const node of nodes) {
      const event = findResponseEvent(node);
      if (event !== undefined) {
        const report = toReport(node.uuid, event);
        this.#reports.set(node, report);
        const agentId = findAgentId(event);
        if (report.agent === undefined) open = report;
        else report.isTold = agentId !== undefined && agents.has(agentId);
      } else if (open !== undefined && isTeller(node, open)) {
        open.isTold = true;
        this.#byTeller.set(node, open);
        open = undefined;
      } else if (node.type === "user") open = undefined;
    }
  }

  /** Returns the report in a record; undefined if the record is not a report. */
  at(node: RecordNode): CallReport | undefined {
    return this.#reports.get(node);
  }

  /** Returns the report of the call of an answer or a summary; undefined if there is none. */
  ofTeller(node: RecordNode): CallReport | undefined {
    return this.#byTeller.get(node);
  }
}

/** Returns the program's report of a call; undefined if the record is not such a report. */
export function findResponseEvent({ value }: RecordNode): JsonRecord | undefined {
  const event = getMember(getMember(value, "systemPayload"), "uiEvent");
  return event["event.name"] === "qwen-code.api_response" ? event : undefined;
}

/** Returns the subagent of a call; undefined for the main agent. */
export function findAgentId({ prompt_id: id }: JsonRecord): string | undefined {
  return toNonemptyText(toNonemptyText(id)?.split("#")[1]);
}

/** Returns whether a record is the answer or the summary of the call that was reported before it. */
function isTeller({ type, value }: RecordNode, { usage }: CallReport): boolean {
  if (value["subtype"] === "chat_compression") return true;
  const { totalTokenCount } = getMember(value, "usageMetadata");
  return type === "assistant" && toCount(totalTokenCount) === usage.totalTokens;
}

function toReport(uuid: string, event: JsonRecord): CallReport {
  return {
    uuid,
    usage: convertCounts({
      input: event["input_token_count"],
      output: event["output_token_count"],
      cached: event["cached_content_token_count"],
      thoughts: event["thoughts_token_count"],
      total: event["total_token_count"],
    }),
    model: toNonemptyText(event["model"]) ?? UNKNOWN_NAME,
    responseId: toNonemptyText(event["response_id"]),
    authType: toNonemptyText(event["auth_type"]),
    agent: toNonemptyText(event["subagent_name"]),
    isTold: false,
  };
}

/** Converts the tokens of an answer. */
export function convertAnswerTokens(tokens: JsonRecord): Usage {
  return convertCounts({
    input: tokens["promptTokenCount"],
    output: tokens["candidatesTokenCount"],
    cached: tokens["cachedContentTokenCount"],
    thoughts: tokens["thoughtsTokenCount"],
    total: tokens["totalTokenCount"],
  });
}

/** The input includes cached tokens; whether the output includes thoughts depends on the provider, and follows from the total. */
function convertCounts(
  counts: Readonly<Record<"input" | "output" | "cached" | "thoughts" | "total", unknown>>,
) {
  const { input, output, cached, thoughts, total } = counts;
  const all = toCount(output) + toCount(thoughts);
  const isApart = toCount(total) >= toCount(input) + all;
  return toUsage({
    inputWithCache: input,
    output: isApart ? all : output,
    cacheRead: cached,
    reasoning: thoughts,
    total,
  });
}

const IDENTITIES: ReadonlyMap<unknown, { readonly api: string; readonly provider: string }> = new Map([
  ["openai", { api: "openai-completions", provider: "openai" }],
  ["anthropic", { api: "anthropic-messages", provider: "anthropic" }],
  ["gemini", { api: "google-generative-ai", provider: "google" }],
  ["gemini-api-key", { api: "google-generative-ai", provider: "google" }],
  ["vertex-ai", { api: "google-vertex", provider: "google-vertex" }],
]);

/** Returns the API and the provider of a call, by authentication method; by default, Qwen's own. */
export function getIdentity(authType: unknown): { readonly api: string; readonly provider: string } {
  return IDENTITIES.get(authType) ?? { api: "openai-completions", provider: "qwen" };
}
