import { toCount } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toUsage } from "../../convert/answer.ts";
import type { RecordNode } from "../claude-code/record-graph.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** Qwen Code's report of a model call. It precedes the answer. */
export interface CallReport {
  /** `uuid` of the record. */
  readonly uuid: string;
  readonly usage: Usage;
  readonly model: string;
  readonly responseId: string | undefined;
  /** The user's authentication method, which identifies the provider. */
  readonly authType: string | undefined;
  /** The subagent or the part of Qwen Code that made the call. */
  readonly agent: string | undefined;
  /** Whether an answer or a summary already reports the call. */
  isTold: boolean;
}

/** Reports of model calls in an agent's records. */
export class CallReports {
  readonly #reports = new Map<RecordNode, CallReport>();
  readonly #byTeller = new Map<RecordNode, CallReport>();

  /** @param agents - Agents whose answers are among the records, by id. */
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

  /** Returns the report of the call that produced an answer or a summary; undefined if there is none. */
  ofTeller(node: RecordNode): CallReport | undefined {
    return this.#byTeller.get(node);
  }
}

/** Returns Qwen Code's report of a call; undefined if the record is not such a report. */
export function findResponseEvent({ value }: RecordNode): JsonRecord | undefined {
  const event = getMember(getMember(value, "systemPayload"), "uiEvent");
  return event["event.name"] === "qwen-code.api_response" ? event : undefined;
}

/** Returns the id of the subagent that made a call; undefined for the main agent. */
export function findAgentId({ prompt_id: id }: JsonRecord): string | undefined {
  return toNonemptyText(toNonemptyText(id)?.split("#")[1]);
}

/** Returns whether a record is the answer or summary produced by the most recently reported call. */
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

/** Converts an answer's token counts. */
export function convertAnswerTokens(tokens: JsonRecord): Usage {
  return convertCounts({
    input: tokens["promptTokenCount"],
    output: tokens["candidatesTokenCount"],
    cached: tokens["cachedContentTokenCount"],
    thoughts: tokens["thoughtsTokenCount"],
    total: tokens["totalTokenCount"],
  });
}

/** Converts counts. The input includes cached tokens. Whether the output includes thoughts is determined from the total. */
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

/** Returns a call's API and provider, based on the authentication method. The default is Qwen's own. */
export function getIdentity(authType: unknown): { readonly api: string; readonly provider: string } {
  return IDENTITIES.get(authType) ?? { api: "openai-completions", provider: "qwen" };
}
