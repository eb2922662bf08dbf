import { blocksOf, fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { imageOfDataUrl, placeholder } from "../images.ts";
import { withoutFields } from "../raw-form.ts";
import { argumentsOf, plainArguments } from "../tool-arguments.ts";
import { withItemId } from "../tool-ids.ts";
import { isHostOutput, OUTPUT_TYPES, reasoningText, textSignature } from "./item-ids.ts";

/** Fields of responses that requests may omit. */
const SILENT_FIELDS = ["status", "logprobs"];

/** Reads the content of a user message from an item: a message, or the host's result for a tool other than a function. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  const { type, role, content, output } = fieldsOf(raw);
  if (isHostOutput(raw)) {
    const name = placeholder(String(type).replaceAll("_", " "));
    const image = imageOfDataUrl(fieldsOf(output)["image_url"]);
    const said = typeof output === "string" && output !== "" ? [{ type: "text" as const, text: output }] : [];
    return [name, ...said, ...(image === undefined ? [] : [image])];
  }
  if (role !== "user") return undefined;
  return typeof content === "string" ? content : listOf(content).map(readPart);
}

/** Reads the text of an item with instructions; undefined for other items. Tools that an item adds have none. */
export function readSystem(raw: unknown): string | undefined {
  const { role, content } = fieldsOf(raw);
  if (role !== "system" && role !== "developer") return undefined;
  if (typeof content === "string") return content;
  const texts = listOf(content).map((part) => fieldsOf(part)["text"]);
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n");
}

/** Reads the items of an answer; skips those without a counterpart. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  return Array.isArray(raw) ? raw.flatMap(readAnswerItem) : undefined;
}

function readAnswerItem(item: unknown): AnswerBlock[] {
  const { type, role, call_id, id, name, namespace, input } = fieldsOf(item);
  if (role === "assistant") return readMessage(fieldsOf(item));
  if (type === "reasoning") {
    return [{ type: "thinking", thinking: reasoningText(item), thinkingSignature: encodeParsed(item) }];
  }
  const isCustom = type === "custom_tool_call";
  if ((type !== "function_call" && !isCustom) || typeof call_id !== "string" || typeof name !== "string")
    return [];
  return [
    {
      type: "toolCall",
      id: withItemId(call_id, id),
      name,
      arguments: isCustom ? { input } : (argumentsOf(fieldsOf(item)["arguments"]) ?? {}),
      ...(typeof namespace === "string" && { namespace }),
    },
  ];
}

function readMessage(item: { readonly [name: string]: unknown }): AnswerBlock[] {
  const { content, id, phase } = item;
  const signature = textSignature(id, phase);
  return blocksOf(content)
    .map(fieldsOf)
    .flatMap(({ text, refusal }): AnswerBlock[] => {
      const said = text ?? refusal;
      return typeof said === "string" ? [{ type: "text", text: said, ...signature }] : [];
    });
}

/** Reads a result from an item. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { type, call_id, output } = fieldsOf(raw);
  if (!OUTPUT_TYPES.has(type) || typeof call_id !== "string") return undefined;
  const isSaid = (block: UserBlock) => block.type !== "text" || block.text !== "";
  return { toolCallId: call_id, content: blocksOf(output).map(readPart).filter(isSaid), isError: false };
}

function readPart(part: unknown): UserBlock {
  const { type, text, image_url, file_id, filename } = fieldsOf(part);
  if (typeof text === "string") return { type: "text", text };
  if (type !== "input_image") return placeholder(String(type).replace("input_", ""), filename ?? file_id);
  const isData = typeof image_url === "string" && image_url.startsWith("data:");
  return imageOfDataUrl(image_url) ?? placeholder("image", isData ? undefined : (image_url ?? file_id));
}

/** Normalises equivalent forms of an item. */
export function plainItem(item: object): object {
  const {
    arguments: args,
    annotations,
    content,
    output,
    detail,
    type,
    ...rest
  } = withoutFields(item, SILENT_FIELDS);
  return {
    ...rest,
    ...(type !== "message" && { type }),
    ...(args !== undefined && { arguments: plainArguments(args) }),
    ...(listOf(annotations).length > 0 && { annotations }),
    ...(content !== undefined && { content: plainParts(content, rest["role"]) }),
    ...(output !== undefined && { output: plainParts(output, "user") }),
    ...(detail !== undefined && detail !== "auto" && { detail }),
  };
}

function plainParts(content: unknown, role: unknown): unknown {
  const type = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type, text: content }] : listOf(content);
  return parts.filter((part) => fieldsOf(part)["text"] !== "").map((part) => plainItem(fieldsOf(part)));
}
