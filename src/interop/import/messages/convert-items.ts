import { blocksOf, listOf } from "../../../core/context/entry-fields.ts";
import type { MessageDocument } from "../../../core/format/foreign-form.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { fromModelMessages } from "../../convert/ai-sdk/from-model-messages.ts";
import { fromUIMessages } from "../../convert/ai-sdk/from-ui-messages.ts";
import { fromAnthropic } from "../../convert/anthropic/from-anthropic.ts";
import { fromBedrock } from "../../convert/bedrock/from-bedrock.ts";
import type { MessageImportOptions } from "../../convert/conversion-options.ts";
import { fromGemini } from "../../convert/gemini/from-gemini.ts";
import { fromLangChain } from "../../convert/langchain/from-langchain.ts";
import type { ConvertedMessages } from "../../convert/message-history.ts";
import { fromOpenAIChat } from "../../convert/openai-chat/from-openai-chat.ts";
import { fromOpenAIResponses } from "../../convert/openai-responses/from-openai-responses.ts";
import { textOf } from "../source-values.ts";

type Content = string | readonly { readonly type: string }[];

/** Converts the messages of a document with the converter of their SDK. */
export function convertItems(document: MessageDocument, options: MessageImportOptions): ConvertedMessages {
  const { form, items } = document;
  const instructions = textOf(document.instructions);
  switch (form) {
    case "anthropic": {
      const system = instructions ?? textBlocks(document.instructions);
      const messages = items.map((item, i) =>
        messageOf(withoutTime(item), i, ["user", "assistant", "system"]),
      );
      return fromAnthropic({ messages, ...(system !== undefined && { system }) }, options);
    }
    case "bedrock": {
      const messages = items.map((item) => ({
        ...withoutTime(item),
        role: textOf(item["role"]),
        content: blocksOf(item["content"]).filter(isJsonRecord),
      }));
      const system = blocksOf(document.instructions).filter(isJsonRecord);
      return fromBedrock({ messages, system }, options);
    }
    case "openai-chat":
      return fromOpenAIChat(
        items.map((item, i) => ({ ...item, ...chatFields(item, i) })),
        options,
      );
    case "openai-responses":
      return fromOpenAIResponses(
        { input: items.map(responsesItem), instructions: instructions ?? null },
        options,
      );
    case "gemini": {
      const contents = items.map((item) => ({
        ...withoutTime(item),
        role: textOf(item["role"]),
        parts: listOf(item["parts"]).filter(isJsonRecord),
      }));
      const systemInstruction = instructions ?? geminiText(document.instructions);
      return fromGemini({ contents, ...(systemInstruction !== undefined && { systemInstruction }) }, options);
    }
    case "langchain":
      return fromLangChain(items.map(langChainMessage), options);
    case "model-messages": {
      const messages = items.map((item, i) => messageOf(item, i, ["system", "user", "assistant", "tool"]));
      return fromModelMessages({ messages, ...(instructions !== undefined && { instructions }) }, options);
    }
    case "ui-messages":
      return fromUIMessages(
        items.map((item, i) => ({
          ...item,
          id: textOf(item["id"]) ?? String(i),
          role: roleOf(item, i, ["system", "user", "assistant"]),
          parts: listOf(item["parts"]).flatMap(typedBlock),
        })),
        options,
      );
    default:
      return form satisfies never;
  }
}

/** Normalises a message; what a checkpointer serialised has a type of its own. */
function langChainMessage(item: JsonRecord) {
  return { ...item, type: String(item["type"]) };
}

/** Normalises an item; messages among them may have no type. */
function responsesItem(item: JsonRecord, index: number) {
  const type = textOf(item["type"]);
  return type === undefined
    ? { ...item, role: String(item["role"]), content: contentOf(item, index) }
    : { ...item, type };
}

function roleOf<Role extends string>({ role }: JsonRecord, index: number, roles: readonly Role[]): Role {
  const found = roles.find((one) => one === role);
  if (found === undefined) throw new TypeError(`Message ${index} has the role ${JSON.stringify(role)}.`);
  return found;
}

function messageOf<Role extends string>(item: JsonRecord, index: number, roles: readonly Role[]) {
  return { ...item, role: roleOf(item, index, roles), content: contentOf(item, index) };
}

/** Removes the fields that became the time of a message. */
function withoutTime({ createdAt: _, timestamp: __, ...item }: JsonRecord): JsonRecord {
  return item;
}

const CHAT_ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

function chatFields(item: JsonRecord, index: number) {
  const { content } = item;
  const isNone = content === null || content === undefined;
  return { role: roleOf(item, index, CHAT_ROLES), content: isNone ? null : contentOf(item, index) };
}

function contentOf({ content }: JsonRecord, index: number): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new TypeError(`Message ${index} has no content.`);
  return content.flatMap(typedBlock);
}

/** Returns a block with a type; drops one without, because its meaning is unknown. */
function typedBlock(block: unknown): { readonly type: string; readonly [field: string]: unknown }[] {
  const type = isJsonRecord(block) ? textOf(block["type"]) : undefined;
  return isJsonRecord(block) && type !== undefined ? [{ ...block, type }] : [];
}

function textBlocks(value: unknown): { type: "text"; text: string }[] | undefined {
  const blocks = listOf(value).flatMap((block) => {
    const text = isJsonRecord(block) ? textOf(block["text"]) : undefined;
    return text === undefined ? [] : [{ type: "text" as const, text }];
  });
  return blocks.length === 0 ? undefined : blocks;
}

function geminiText(value: unknown): { parts: JsonRecord[] } | undefined {
  const parts = listOf(isJsonRecord(value) ? value["parts"] : undefined).filter(isJsonRecord);
  return parts.length === 0 ? undefined : { parts };
}
