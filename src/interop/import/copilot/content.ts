import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import type { ToolCall, Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toUsage } from "../../convert/answer.ts";
import { readAnswerBlock } from "../../convert/anthropic/anthropic-content.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, toImage } from "../../convert/images.ts";
import { parseArguments } from "../../convert/tool-arguments.ts";
import { convertAnswerItem } from "../codex/response-items.ts";
import { makeToolCall } from "../entry-bodies.ts";
import { getMember, type SourceRecord, toNonemptyText } from "../source-text.ts";
import { addTokens, NO_TOKENS, type Tokens, takeLesserTokens } from "../token-sums.ts";

/** A converted answer, or part of an answer. */
export interface Answer {
  readonly content: AnswerBlock[];
  readonly calls: readonly ToolCall[];
  /** Values that a message cannot contain; undefined if there are none. */
  readonly others: JsonRecord | undefined;
}

/** Converts a model's answer: its reasoning, text, and calls. */
export function toAnswer(data: JsonRecord): Answer {
  const requests = toArray(data["toolRequests"]).map(toRecord);
  const calls = requests.map(({ toolCallId, name, arguments: args }) => makeToolCall(toolCallId, name, args));
  const unread = requests.filter(
    ({ arguments: args }) => args !== undefined && parseArguments(args) === undefined,
  );
  const text = toNonemptyText(data["content"]);
  const content: AnswerBlock[] = [
    ...toReasoning(data),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls,
  ];
  const { reasoningOpaque, encryptedContent, citations, serverTools } = data;
  const others = {
    ...(toNonemptyText(reasoningOpaque) !== undefined && { reasoningOpaque }),
    ...(toNonemptyText(encryptedContent) !== undefined && { encryptedContent }),
    ...(citations !== undefined && { citations }),
    ...(serverTools !== undefined && { serverTools }),
    ...(unread.length > 0 && { toolRequests: unread }),
  };
  return { content, calls, others: Object.keys(others).length === 0 ? undefined : others };
}

/** Converts reasoning to the provider's own blocks, with signatures, or to plain text if there are no blocks. */
function toReasoning(data: JsonRecord): AnswerBlock[] {
  const blocks = toArray(getMember(data, "reasoningBlocks")["blocks"]).map(toRecord);
  const written = blocks.flatMap((block) =>
    block["type"] === "reasoning" ? convertAnswerItem(block) : readAnswerBlock(block),
  );
  const thinking = toNonemptyText(data["reasoningText"]);
  if (written.length > 0 || thinking === undefined) return written;
  return [{ type: "thinking", thinking }];
}

/** Returns the images that the user attached to a prompt. */
export function getAttachedImages(attachments: unknown, assets: ReadonlyMap<string, string>): UserBlock[] {
  return toArray(attachments).flatMap((attachment) => readImage(toRecord(attachment), assets) ?? []);
}

function readImage({ mimeType, data, assetId }: JsonRecord, assets: ReadonlyMap<string, string>) {
  return toImage(mimeType, data ?? assets.get(toNonemptyText(assetId) ?? ""));
}

/** Result of a call. */
export interface CallResult {
  readonly content: UserBlock[];
  readonly text: string;
  readonly isError: boolean;
  readonly exitCode: number | undefined;
  /** Undefined if there are none. */
  readonly details: JsonRecord | undefined;
}

/** Line that Copilot appends to a command's output. */
const EXIT = /<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*$/;

/**
 * Converts the result of a call. If there is an exit code, it determines whether the call failed, because Copilot reports
 * failed commands as successful.
 */
export function toResult(data: JsonRecord, assets: ReadonlyMap<string, string>): CallResult {
  const { content, binaryResultsForLlm, contents, ...rest } = getMember(data, "result");
  const { message, code } = getMember(data, "error");
  const text = toNonemptyText(content) ?? toNonemptyText(message) ?? "";
  const exitCode = findExitCode(data, contents, text);
  const images = toArray(binaryResultsForLlm).map(toRecord);
  const details = {
    ...rest,
    ...(exitCode !== undefined && { exitCode }),
    ...(toNonemptyText(code) !== undefined && { errorCode: code }),
  };
  return {
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...images.map(
        (image) => readImage(image, assets) ?? makePlaceholder(toNonemptyText(image["mimeType"]) ?? "file"),
      ),
    ],
    text,
    isError: exitCode === undefined ? data["success"] === false : exitCode !== 0,
    exitCode,
    details: Object.keys(details).length === 0 ? undefined : details,
  };
}

function findExitCode(data: JsonRecord, contents: unknown, text: string): number | undefined {
  const told = [getMember(data, "shellExecution"), ...toArray(contents).map(toRecord)];
  const exitCode = told.map((one) => one["exitCode"]).find((one) => typeof one === "number");
  const [, written] = EXIT.exec(text) ?? [];
  return exitCode ?? (written === undefined ? undefined : Number(written));
}

/**
 * Converts the token counts of one or several calls. The source's input count includes both caches.
 *
 * For a call that wrote a summary, the cache writes may be reported only in the billing data. Older versions use other names for
 * the counts.
 */
export function convertTokens(tokens: JsonRecord): Usage {
  const bill = toArray(getMember(tokens, "copilotUsage")["tokenDetails"]).map(toRecord);
  const billedWrites = bill.find(({ tokenType }) => tokenType === "cache_write")?.["tokenCount"];
  return toUsage({
    inputWithCache: tokens["inputTokens"] ?? tokens["input"],
    output: tokens["outputTokens"] ?? tokens["output"],
    cacheRead: tokens["cacheReadTokens"] ?? tokens["cachedInput"],
    cacheWrite: toCount(tokens["cacheWriteTokens"]) || billedWrites,
    reasoning: tokens["reasoningTokens"],
  });
}

const APIS: ReadonlyMap<unknown, string> = new Map([
  ["/responses", "openai-responses"],
  ["ws:/responses", "openai-responses"],
  ["/v1/messages", "anthropic-messages"],
]);

/** Returns the API of a call, based on its token record. */
export function getApi(tokens: JsonRecord | undefined): string {
  return APIS.get(tokens?.["apiEndpoint"]) ?? "openai-completions";
}

/** Returns a call's provider, which is GitHub unless the user provided a key. */
export function getProvider({ isByok, providerType }: JsonRecord): string {
  return (isByok === true ? toNonemptyText(providerType) : undefined) ?? "github-copilot";
}

/** Tokens reported by calls, by model. A session's totals include them again. */
export class CountedTokens {
  readonly #byModel = new Map<string, Tokens>();

  add(model: string, tokens: Tokens): void {
    this.#byModel.set(model, addTokens(this.#get(model), tokens));
  }

  /**
   * Returns the amount by which a model's total exceeds the tokens of its calls, and counts the difference. Tokens of unknown
   * models are assumed to belong to this model.
   */
  takeRest(model: string, total: Tokens): Usage {
    // After a rewind, totals may be lower than the counted tokens.
    const beyond = toUsage(addTokens(total, this.#get(model), -1));
    const unnamed = model === UNKNOWN_NAME ? NO_TOKENS : takeLesserTokens(this.#get(UNKNOWN_NAME), beyond);
    this.add(UNKNOWN_NAME, addTokens(NO_TOKENS, unnamed, -1));
    this.add(model, addTokens(beyond, NO_TOKENS));
    return toUsage(addTokens(beyond, unnamed, -1));
  }

  #get(model: string): Tokens {
    return this.#byModel.get(model) ?? NO_TOKENS;
  }
}

/** Models for answers that do not specify a model, taken from other events. Versions up to about 1.0.20 write such answers. */
export class NamedModels {
  readonly #byCall = new Map<unknown, string>();
  /** The first model in an agent's events, by the agent's id. The id is undefined for the main agent. */
  readonly #first = new Map<unknown, string>();

  constructor(records: readonly SourceRecord[]) {
    for (const { value } of records) {
      const data = getMember(value, "data");
      const model = findModel(value["type"], data);
      if (model === undefined) continue;
      const { agentId } = value;
      if (!this.#first.has(agentId)) this.#first.set(agentId, model);
      if (data["toolCallId"] !== undefined) this.#byCall.set(data["toolCallId"], model);
    }
  }

  /** Returns the model specified in the results of an answer's calls. */
  findCalled(calls: readonly { readonly id: string }[]): string | undefined {
    return calls.map(({ id }) => this.#byCall.get(id)).find((model) => model !== undefined);
  }

  /** Returns the first model of an agent. */
  getFirst(agentId: string | undefined): string | undefined {
    return this.#first.get(agentId);
  }
}

function findModel(type: unknown, data: JsonRecord): string | undefined {
  if (type === "assistant.message" || type === "tool.execution_complete")
    return toNonemptyText(data["model"]);
  return type === "session.shutdown" ? toNonemptyText(data["currentModel"]) : undefined;
}
