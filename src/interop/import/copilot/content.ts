import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { ToolCall, Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { usageOf } from "../../convert/answer.ts";
import { readAnswerBlock } from "../../convert/anthropic/anthropic-content.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { imageOf, placeholder } from "../../convert/images.ts";
import { argumentsOf } from "../../convert/tool-arguments.ts";
import { answerBlocks } from "../codex/response-items.ts";
import { member, textOf } from "../source-values.ts";

/** A converted answer, or a part of one. */
export interface Answer {
  readonly content: AnswerBlock[];
  readonly calls: readonly ToolCall[];
  /** What a message cannot hold; undefined if there is nothing. */
  readonly others: JsonRecord | undefined;
}

/** Converts an answer of the model: its reasoning, text and calls. */
export function answerOf(data: JsonRecord): Answer {
  const requests = listOf(data["toolRequests"]).map(fieldsOf);
  const calls = requests.map(
    ({ toolCallId, name, arguments: args }): ToolCall => ({
      type: "toolCall",
      id: textOf(toolCallId) ?? "",
      name: textOf(name) ?? "unknown",
      arguments: argumentsOf(args) ?? {},
    }),
  );
  const unread = requests.filter(
    ({ arguments: args }) => args !== undefined && argumentsOf(args) === undefined,
  );
  const text = textOf(data["content"]);
  const content: AnswerBlock[] = [
    ...reasoningOf(data),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls,
  ];
  const { reasoningOpaque, encryptedContent, citations, serverTools } = data;
  const others = {
    ...(textOf(reasoningOpaque) !== undefined && { reasoningOpaque }),
    ...(textOf(encryptedContent) !== undefined && { encryptedContent }),
    ...(citations !== undefined && { citations }),
    ...(serverTools !== undefined && { serverTools }),
    ...(unread.length > 0 && { toolRequests: unread }),
  };
  return { content, calls, others: Object.keys(others).length === 0 ? undefined : others };
}

/** Converts reasoning: as the provider wrote it, with its signatures, else its text. */
function reasoningOf(data: JsonRecord): AnswerBlock[] {
  const blocks = listOf(member(data, "reasoningBlocks")["blocks"]).map(fieldsOf);
  const written = blocks.flatMap((block) =>
    block["type"] === "reasoning" ? answerBlocks(block) : readAnswerBlock(block),
  );
  const thinking = textOf(data["reasoningText"]);
  if (written.length > 0 || thinking === undefined) return written;
  return [{ type: "thinking", thinking }];
}

/** Returns the images that the user attached. */
export function attachedImages(attachments: unknown, assets: ReadonlyMap<string, string>): UserBlock[] {
  return listOf(attachments).flatMap((attachment) => imageIn(fieldsOf(attachment), assets) ?? []);
}

function imageIn({ mimeType, data, assetId }: JsonRecord, assets: ReadonlyMap<string, string>) {
  return imageOf(mimeType, data ?? assets.get(textOf(assetId) ?? ""));
}

/** How a call ended. */
export interface CallResult {
  readonly content: UserBlock[];
  readonly text: string;
  readonly isError: boolean;
  readonly exitCode: number | undefined;
  /** Undefined if there is nothing to tell. */
  readonly details: JsonRecord | undefined;
}

/** What the program writes behind the output of a command. */
const EXIT = /<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*$/;

/** Converts the result of a call. It succeeded by its exit code, if it has one: the program calls failed commands a success. */
export function resultOf(data: JsonRecord, assets: ReadonlyMap<string, string>): CallResult {
  const { content, binaryResultsForLlm, contents, ...rest } = member(data, "result");
  const { message, code } = member(data, "error");
  const text = textOf(content) ?? textOf(message) ?? "";
  const exitCode = exitCodeOf(data, contents, text);
  const images = listOf(binaryResultsForLlm).map(fieldsOf);
  const details = {
    ...rest,
    ...(exitCode !== undefined && { exitCode }),
    ...(textOf(code) !== undefined && { errorCode: code }),
  };
  return {
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...images.map((image) => imageIn(image, assets) ?? placeholder(textOf(image["mimeType"]) ?? "file")),
    ],
    text,
    isError: exitCode === undefined ? data["success"] === false : exitCode !== 0,
    exitCode,
    details: Object.keys(details).length === 0 ? undefined : details,
  };
}

function exitCodeOf(data: JsonRecord, contents: unknown, text: string): number | undefined {
  const told = [member(data, "shellExecution"), ...listOf(contents).map(fieldsOf)];
  const exitCode = told.map((one) => one["exitCode"]).find((one) => typeof one === "number");
  const [, written] = EXIT.exec(text) ?? [];
  return exitCode ?? (written === undefined ? undefined : Number(written));
}

/** Converts the tokens of a call or of several; the source's input includes both caches. */
export function usageOfTokens(tokens: JsonRecord): Usage {
  return usageOf({
    inputWithCache: tokens["inputTokens"],
    output: tokens["outputTokens"],
    cacheRead: tokens["cacheReadTokens"],
    cacheWrite: tokens["cacheWriteTokens"],
    reasoning: tokens["reasoningTokens"],
  });
}

const APIS: ReadonlyMap<unknown, string> = new Map([
  ["/responses", "openai-responses"],
  ["ws:/responses", "openai-responses"],
  ["/v1/messages", "anthropic-messages"],
]);

/** Returns the API of a call, as its tokens tell it. */
export function apiOf(tokens: JsonRecord | undefined): string {
  return APIS.get(tokens?.["apiEndpoint"]) ?? "openai-completions";
}

/** Returns the provider of a call: GitHub, unless the user brought a key. */
export function providerOf({ isByok, providerType }: JsonRecord): string {
  return (isByok === true ? textOf(providerType) : undefined) ?? "github-copilot";
}
