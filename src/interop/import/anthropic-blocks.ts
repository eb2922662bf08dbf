import { blocksOf, fieldsOf } from "../../core/context/entry-fields.ts";
import { readAnswerBlock } from "../convert/anthropic/anthropic-content.ts";
import type { AnswerBlock, UserBlock } from "../convert/dialect.ts";
import { placeholder } from "../convert/images.ts";
import { textOf } from "./source-text.ts";

/** Blocks of a message, and those that it can represent only by a short text. */
export interface ConvertedBlocks<Block> {
  readonly content: Block[];
  readonly others: unknown[];
}

/** Converts a model's answer: text, thinking and calls; output of the provider's own tools is among the other blocks. */
export function convertAnswer(content: unknown): ConvertedBlocks<AnswerBlock> {
  return convertAll(content, (block) => {
    const converted = readAnswerBlock(block);
    return { converted, isWhole: converted.length > 0 };
  });
}

/** Converts what a user or a tool sent: text and inline images; a text describes each other block. */
export function convertInput(content: unknown): ConvertedBlocks<UserBlock> {
  const { content: blocks, others } = convertAll(content, inputBlock);
  return { content: blocks.filter((block) => block.type !== "text" || block.text !== ""), others };
}

interface Conversion<Block> {
  readonly converted: readonly Block[];
  readonly isWhole: boolean;
}

function convertAll<Block>(
  content: unknown,
  convert: (block: unknown) => Conversion<Block>,
): ConvertedBlocks<Block> {
  const blocks: Block[] = [];
  const others: unknown[] = [];
  for (const block of blocksOf(content)) {
    const { converted, isWhole } = convert(typeof block === "string" ? text(block) : block);
    blocks.push(...converted);
    if (!isWhole) others.push(block);
  }
  return { content: blocks, others };
}

function inputBlock(block: unknown): Conversion<UserBlock> {
  const { type, source, content, title, tool_name, text: said } = fieldsOf(block);
  switch (type) {
    case "text":
      return { converted: [text(textOf(said) ?? "")], isWhole: true };
    case "image":
      return imageBlock(source);
    case "document":
      return documentBlock(source, textOf(title));
    case "tool_reference":
      return mention(`tool ${textOf(tool_name) ?? "unknown"}`);
    case "search_result": {
      const heading = [title, source].flatMap((one) => textOf(one) ?? []).join("\n");
      return { converted: [text(heading), ...convertInput(content).content], isWhole: false };
    }
    default:
      return mention(textOf(type) ?? "block of no type");
  }
}

function text(said: string): UserBlock {
  return { type: "text", text: said };
}

/** Returns a text in brackets that replaces a block that no message can hold. */
function mention(kind: string, name?: string): Conversion<UserBlock> {
  return { converted: [placeholder(kind, name)], isWhole: false };
}

function imageBlock(source: unknown): Conversion<UserBlock> {
  const { data, media_type } = fieldsOf(source);
  const [bytes, mimeType] = [textOf(data), textOf(media_type)];
  if (bytes === undefined || mimeType === undefined) return mention("image", addressOf(source));
  return { converted: [{ type: "image", data: bytes, mimeType }], isWhole: true };
}

function documentBlock(source: unknown, title: string | undefined): Conversion<UserBlock> {
  const { type, data, content } = fieldsOf(source);
  const heading = title === undefined ? [] : [text(title)];
  if (type === "text") {
    return { converted: [...heading, text(textOf(data) ?? "")], isWhole: title === undefined };
  }
  if (type === "content") {
    const inner = convertInput(content);
    const isWhole = title === undefined && inner.others.length === 0;
    return { converted: [...heading, ...inner.content], isWhole };
  }
  return mention("document", [title, addressOf(source)].filter((part) => part !== undefined).join(", "));
}

function addressOf(source: unknown): string | undefined {
  const { url, file_id } = fieldsOf(source);
  return textOf(url) ?? textOf(file_id);
}
