import { listOf } from "../../context/entry-fields.ts";
import type { TextContent, ThinkingContent, ToolCall } from "../../schema/content.ts";
import { argumentsOf, type InputBlock, textOf } from "../source-values.ts";
import { blockField } from "./message-parts.ts";

/** Blocks of a message, and those that it can represent only by a short text. */
export interface ConvertedBlocks<Block> {
  readonly content: Block[];
  /** Blocks as in the source. */
  readonly others: unknown[];
}

/** Text in place of thinking that the provider withheld. */
const REDACTED = "[Reasoning redacted]";

/** Converts a model's answer: text, thinking and calls; output of the provider's own tools is among the other blocks. */
export function convertAnswer(content: unknown): ConvertedBlocks<TextContent | ThinkingContent | ToolCall> {
  const blocks: (TextContent | ThinkingContent | ToolCall)[] = [];
  const others: unknown[] = [];
  for (const block of typeof content === "string" ? [content] : listOf(content)) {
    const converted = answerBlock(block);
    if (converted === undefined) others.push(block);
    else blocks.push(converted);
  }
  return { content: blocks, others };
}

function answerBlock(block: unknown): TextContent | ThinkingContent | ToolCall | undefined {
  if (typeof block === "string") return { type: "text", text: block };
  switch (blockField(block, "type")) {
    case "text":
      return { type: "text", text: textOf(blockField(block, "text")) ?? "" };
    case "thinking": {
      const signature = textOf(blockField(block, "signature"));
      const thinking = textOf(blockField(block, "thinking")) ?? "";
      return { type: "thinking", thinking, ...(signature !== undefined && { thinkingSignature: signature }) };
    }
    case "redacted_thinking": {
      const thinkingSignature = textOf(blockField(block, "data")) ?? "";
      return { type: "thinking", thinking: REDACTED, thinkingSignature, redacted: true };
    }
    case "tool_use":
      return {
        type: "toolCall",
        id: textOf(blockField(block, "id")) ?? "",
        name: textOf(blockField(block, "name")) ?? "unknown",
        arguments: argumentsOf(blockField(block, "input")) ?? {},
      };
    default:
      return undefined;
  }
}

/** Converts what a user or a tool sent: text and inline images; a text describes each other block. */
export function convertInput(content: unknown): ConvertedBlocks<InputBlock> {
  const blocks: InputBlock[] = [];
  const others: unknown[] = [];
  for (const block of typeof content === "string" ? [content] : listOf(content)) {
    const { converted, isWhole } = inputBlock(block);
    blocks.push(...converted);
    if (!isWhole) others.push(block);
  }
  return { content: blocks.filter((block) => block.type !== "text" || block.text !== ""), others };
}

interface InputConversion {
  readonly converted: InputBlock[];
  readonly isWhole: boolean;
}

function inputBlock(block: unknown): InputConversion {
  if (typeof block === "string") return whole({ type: "text", text: block });
  const type = blockField(block, "type");
  switch (type) {
    case "text":
      return whole({ type: "text", text: textOf(blockField(block, "text")) ?? "" });
    case "image":
      return imageBlock(blockField(block, "source"));
    case "document":
      return documentBlock(block);
    case "tool_reference":
      return mention(`tool ${textOf(blockField(block, "tool_name")) ?? "unknown"}`);
    case "search_result": {
      const { content } = convertInput(blockField(block, "content"));
      const title = [blockField(block, "title"), blockField(block, "source")].flatMap(
        (text) => textOf(text) ?? [],
      );
      return { converted: [{ type: "text", text: title.join("\n") }, ...content], isWhole: false };
    }
    default:
      return mention(textOf(type) ?? "block of no type");
  }
}

function whole(block: InputBlock): InputConversion {
  return { converted: [block], isWhole: true };
}

/** Returns a text in brackets that replaces a block that no message can hold. */
function mention(what: string): InputConversion {
  return { converted: [{ type: "text", text: `[${what}]` }], isWhole: false };
}

function imageBlock(source: unknown): InputConversion {
  const data = textOf(blockField(source, "data"));
  const mimeType = textOf(blockField(source, "media_type"));
  if (data !== undefined && mimeType !== undefined) return whole({ type: "image", data, mimeType });
  const place = textOf(blockField(source, "url")) ?? textOf(blockField(source, "file_id"));
  return mention(place === undefined ? "image" : `image: ${place}`);
}

function documentBlock(block: unknown): InputConversion {
  const source = blockField(block, "source");
  const title = textOf(blockField(block, "title"));
  const type = blockField(source, "type");
  const heading: InputBlock[] = title === undefined ? [] : [{ type: "text", text: title }];
  if (type === "text") {
    const text = textOf(blockField(source, "data")) ?? "";
    return { converted: [...heading, { type: "text", text }], isWhole: title === undefined };
  }
  if (type === "content") {
    const { content, others } = convertInput(blockField(source, "content"));
    return { converted: [...heading, ...content], isWhole: title === undefined && others.length === 0 };
  }
  const place = textOf(blockField(source, "url")) ?? textOf(blockField(source, "file_id"));
  const name = [title, place].filter((part) => part !== undefined).join(", ");
  return mention(name === "" ? "document" : `document: ${name}`);
}
