import { toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { readAnswerBlock } from "../convert/anthropic/anthropic-content.ts";
import type { AnswerBlock, UserBlock } from "../convert/dialect.ts";
import { makePlaceholder } from "../convert/images.ts";
import { toNonemptyText } from "./source-text.ts";

/** Converted blocks of a message, and the original blocks that had to be replaced with short descriptions. */
export interface ConvertedBlocks<Block> {
  readonly content: Block[];
  readonly others: unknown[];
}

/** Converts a model's answer: text, thinking, and calls. Output of the provider's own tools is returned in `others`. */
export function convertAnswer(content: unknown): ConvertedBlocks<AnswerBlock> {
  return convertAll(content, (block) => {
    const converted = readAnswerBlock(block);
    return { converted, isWhole: converted.length > 0 };
  });
}

/** Converts input from a user or a tool: text and inline images. Every other block is replaced with a short description. */
export function convertInput(content: unknown): ConvertedBlocks<UserBlock> {
  const { content: blocks, others } = convertAll(content, convertInputBlock);
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
  for (const block of toContentBlocks(content)) {
    const { converted, isWhole } = convert(typeof block === "string" ? makeText(block) : block);
    blocks.push(...converted);
    if (!isWhole) others.push(block);
  }
  return { content: blocks, others };
}

function convertInputBlock(block: unknown): Conversion<UserBlock> {
  const { type, source, content, title, tool_name, text: said } = toRecord(block);
  switch (type) {
    case "text":
      return { converted: [makeText(toNonemptyText(said) ?? "")], isWhole: true };
    case "image":
      return convertImageBlock(source);
    case "document":
      return convertDocumentBlock(source, toNonemptyText(title));
    case "tool_reference":
      return makeMention(`tool ${toNonemptyText(tool_name) ?? "unknown"}`);
    case "search_result": {
      const heading = [title, source].flatMap((one) => toNonemptyText(one) ?? []).join("\n");
      return { converted: [makeText(heading), ...convertInput(content).content], isWhole: false };
    }
    default:
      return makeMention(toNonemptyText(type) ?? "block of no type");
  }
}

function makeText(said: string): UserBlock {
  return { type: "text", text: said };
}

/** Returns bracketed text that replaces a block that a message cannot contain. */
function makeMention(kind: string, name?: string): Conversion<UserBlock> {
  return { converted: [makePlaceholder(kind, name)], isWhole: false };
}

function convertImageBlock(source: unknown): Conversion<UserBlock> {
  const { data, media_type } = toRecord(source);
  const [bytes, mimeType] = [toNonemptyText(data), toNonemptyText(media_type)];
  if (bytes === undefined || mimeType === undefined) return makeMention("image", getAddress(source));
  return { converted: [{ type: "image", data: bytes, mimeType }], isWhole: true };
}

function convertDocumentBlock(source: unknown, title: string | undefined): Conversion<UserBlock> {
  const { type, data, content } = toRecord(source);
  const heading = title === undefined ? [] : [makeText(title)];
  if (type === "text") {
    return { converted: [...heading, makeText(toNonemptyText(data) ?? "")], isWhole: title === undefined };
  }
  if (type === "content") {
    const inner = convertInput(content);
    const isWhole = title === undefined && inner.others.length === 0;
    return { converted: [...heading, ...inner.content], isWhole };
  }
  return makeMention("document", [title, getAddress(source)].filter((part) => part !== undefined).join(", "));
}

function getAddress(source: unknown): string | undefined {
  const { url, file_id } = toRecord(source);
  return toNonemptyText(url) ?? toNonemptyText(file_id);
}
