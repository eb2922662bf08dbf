import { fieldsOf } from "../../../core/context/entry-fields.ts";
import type { TextContent, ToolCall } from "../../../core/format/content.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { dataUrlOf } from "../images.ts";
import { callItemOf, reasoningItemOf, textItemOf } from "./item-ids.ts";
import type {
  OpenAICallOutput,
  OpenAIInputImage,
  OpenAIInputMessage,
  OpenAIInputText,
  OpenAIOutputMessage,
  OpenAIResponsesItem,
} from "./openai-responses-types.ts";

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): OpenAIInputMessage {
  return { role: "user", content: typeof content === "string" ? content : content.map(writePart) };
}

function writePart(block: UserBlock): OpenAIInputText | OpenAIInputImage {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", detail: "auto", image_url: dataUrlOf(block) };
}

/** Options to write the items of an answer. */
export interface AnswerStyle {
  /** Whether to include item ids and reasoning, which the provider pairs by these ids. */
  readonly hasItemIds: boolean;
  /** Whether to write calls of custom tools as such. */
  readonly isOwn: boolean;
  /** Maps our id of a call to the provider's. */
  readonly idOf: (id: string) => string;
}

/** Writes an answer as items. */
export function writeAnswer(content: readonly AnswerBlock[], style: AnswerStyle): OpenAIResponsesItem[] {
  const items: OpenAIResponsesItem[] = [];
  for (const block of content) {
    if (block.type === "toolCall") items.push(writeCall(block, style));
    else if (block.type === "text") addText(items, block, style.hasItemIds);
    else {
      const reasoning = style.hasItemIds ? reasoningItemOf(block.thinkingSignature, false) : undefined;
      if (reasoning !== undefined) items.push(reasoning);
    }
  }
  return items;
}

/** Adds a text as an item, or as a part of the item before if both have the same id. */
function addText(
  items: OpenAIResponsesItem[],
  { text, textSignature }: TextContent,
  hasItemIds: boolean,
): void {
  const item = textItemOf(textSignature);
  const phase = item?.phase === undefined ? {} : { phase: item.phase };
  if (item === undefined || !hasItemIds) {
    if (text !== "") items.push({ role: "assistant", content: text, ...phase });
    return;
  }
  const part = { type: "output_text" as const, text, annotations: [] as [] };
  const last = items.at(-1);
  if (isOutputMessage(last) && last.id === item.id) last.content.push(part);
  else
    items.push({
      type: "message",
      role: "assistant",
      id: item.id,
      status: "completed",
      content: [part],
      ...phase,
    });
}

function isOutputMessage(item: OpenAIResponsesItem | undefined): item is OpenAIOutputMessage {
  return fieldsOf(item)["type"] === "message";
}

function writeCall(call: ToolCall, { hasItemIds, isOwn, idOf }: AnswerStyle): OpenAIResponsesItem {
  const { name, namespace } = call;
  const call_id = idOf(call.id);
  const input = isOwn ? customInputOf(call) : undefined;
  const itemId = hasItemIds ? callItemOf(call.id, input === undefined ? "fc" : "ctc") : undefined;
  const id = itemId === undefined ? {} : { id: itemId };
  const more = { ...id, ...(namespace !== undefined && isOwn && { namespace }) };
  if (input !== undefined) return { type: "custom_tool_call", call_id, name, input, ...more };
  return { type: "function_call", call_id, name, arguments: JSON.stringify(call.arguments), ...more };
}

/** Returns the input of a custom tool; undefined for a call of a function. */
export function customInputOf({ id, arguments: args }: ToolCall): string | undefined {
  const { input, ...others } = args;
  const isCustom = callItemOf(id, "ctc") !== undefined && Object.keys(others).length === 0;
  return isCustom && typeof input === "string" ? input : undefined;
}

/** Writes a result. */
export function writeResult(
  { content }: ReadResult | ToolResultMessage,
  type: OpenAICallOutput["type"],
  call_id: string,
): OpenAICallOutput {
  const [first] = content;
  if (first === undefined) return { type, call_id, output: "" };
  const isText = content.length === 1 && first.type === "text";
  return { type, call_id, output: isText ? first.text : content.map(writePart) };
}
