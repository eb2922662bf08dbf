import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { ToolCall, Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { usageOf } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { imageOfDataUrl, placeholder } from "../../convert/images.ts";
import { argumentsOf } from "../../convert/tool-arguments.ts";
import { member, textOf } from "../source-values.ts";

/** Converts content that was sent: texts and inline images; a text describes each other part. */
export function sentParts(content: unknown): UserBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content).map(fieldsOf).flatMap(sentPart);
}

function sentPart(part: JsonRecord): UserBlock[] {
  const { type, text, imageUrl, image_url = imageUrl } = part;
  if (typeof text === "string") return text === "" ? [] : [{ type: "text", text }];
  const url = textOf(fieldsOf(image_url)["url"]) ?? textOf(image_url);
  return [
    imageOfDataUrl(url) ?? placeholder(textOf(type)?.replace(/_url$/, "") ?? "part", url?.slice(0, 200)),
  ];
}

/** Converts a part of an answer. */
export function answerPart(part: JsonRecord): AnswerBlock {
  const { type, text, think, encrypted } = part;
  if (type === "think") {
    const signature = textOf(encrypted);
    return {
      type: "thinking",
      thinking: textOf(think) ?? textOf(text) ?? "",
      ...(signature !== undefined && { thinkingSignature: signature }),
    };
  }
  return { type: "text", text: textOf(text) ?? placeholder(textOf(type) ?? "part").text };
}

/** Converts a call of a tool. */
export function callBlock({ toolCallId, name, args }: JsonRecord): ToolCall {
  return {
    type: "toolCall",
    id: textOf(toolCallId) ?? "",
    name: textOf(name) ?? "unknown",
    arguments: argumentsOf(args) ?? {},
  };
}

/** Converts what a tool returned; its note was sent, too. */
export function resultParts(result: JsonRecord): UserBlock[] {
  const blocks = sentParts(result["output"]);
  const note = textOf(result["note"]);
  const last = blocks.at(-1);
  if (note === undefined) return blocks;
  if (last?.type !== "text") return [...blocks, { type: "text", text: note }];
  return [...blocks.slice(0, -1), { type: "text", text: `${last.text}\n${note}` }];
}

/** Converts the tokens of a call; the source's input excludes both caches. */
export function usageOfTokens(tokens: JsonRecord): Usage {
  return usageOf({
    input: tokens["inputOther"],
    output: tokens["output"],
    cacheRead: tokens["inputCacheRead"],
    cacheWrite: tokens["inputCacheCreation"],
  });
}

/** Interfaces by the types of providers. */
const APIS: ReadonlyMap<unknown, string> = new Map([
  ["kimi", "openai-completions"],
  ["openai", "openai-completions"],
  ["openai_legacy", "openai-completions"],
  ["openai_responses", "openai-responses"],
  ["anthropic", "anthropic-messages"],
  ["google_genai", "google-generative-ai"],
  ["gemini", "google-generative-ai"],
]);

/** Returns the model that a request names, as a message does. */
export function modelOf(request: JsonRecord): { provider?: string; model?: string; api?: string } {
  const [provider, model] = [textOf(request["provider"]), textOf(request["model"])];
  const api = APIS.get(provider);
  return {
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(api !== undefined && { api }),
  };
}

/** Returns what went wrong, as a record of the end of a turn tells it. */
export function errorOf(record: JsonRecord): string | undefined {
  return textOf(member(record, "error")["message"]) ?? textOf(record["error"]);
}
