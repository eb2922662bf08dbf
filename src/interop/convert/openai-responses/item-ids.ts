import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { digestOf } from "../../../core/format/ids.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import type { OpenAIReasoningItem } from "./openai-responses-types.ts";

/** Types of items that are results. */
export const OUTPUT_TYPES: ReadonlySet<unknown> = new Set([
  "function_call_output",
  "custom_tool_call_output",
]);

/** Tells whether an item is the host's result for a tool other than a function, such as a shell or a computer. */
export function isHostOutput(item: unknown): boolean {
  const { type } = fieldsOf(item);
  if (typeof type !== "string" || OUTPUT_TYPES.has(type)) return false;
  return type.endsWith("_call_output") || type === "mcp_approval_response";
}

/** Tells whether an item calls a tool of the host other than a function; calls that the provider runs have no `call_id`. */
export function isHostCall(item: unknown): boolean {
  const { type, call_id } = fieldsOf(item);
  if (type === "function_call" || type === "custom_tool_call") return false;
  return typeof type === "string" && type.endsWith("_call") && typeof call_id === "string";
}

/** Maximum length of an id. */
export const MAX_ID = 64;

const DIGEST_LENGTH = 24;

/** The item of a text, from its signature. */
export interface TextItem {
  readonly id: string;
  readonly phase: "commentary" | "final_answer" | undefined;
}

/** Returns the field that names the item of a text, if it has one. */
export function textSignature(id: unknown, phase: unknown): { textSignature?: string } {
  if (typeof id !== "string") return {};
  return { textSignature: JSON.stringify({ v: 1, id, ...(typeof phase === "string" && { phase }) }) };
}

/** Returns the text to show of a reasoning item: its summary, else its content. */
export function reasoningText(item: unknown): string {
  const { summary, content } = fieldsOf(item);
  return reasoningParts(summary).join("\n\n") || reasoningParts(content).join("\n\n");
}

/** Returns the texts of the parts of a reasoning item. */
export function reasoningParts(parts: unknown): string[] {
  return listOf(parts).flatMap((part) => {
    const { text } = fieldsOf(part);
    return typeof text === "string" ? [text] : [];
  });
}

/** Reads the signature of a text: `{ v, id, phase }` as JSON, or an id alone as older writers stored it. */
export function textItemOf(signature: string | undefined): TextItem | undefined {
  if (signature === undefined) return undefined;
  const { id = signature, phase } = fieldsOf(parseJson(signature)?.value);
  if (typeof id !== "string" || !id.startsWith("msg")) return undefined;
  return {
    id: id.length <= MAX_ID ? id : `msg_${digestOf(id).slice(0, DIGEST_LENGTH)}`,
    phase: phase === "commentary" || phase === "final_answer" ? phase : undefined,
  };
}

/**
 * Tells whether a server takes a reasoning item with this id: OpenAI's own refuse ids that they do not make; others, such as
 * Copilot's, make opaque ones of any length.
 */
export function isReasoningIdOf(provider: string, id: string): boolean {
  const isStrict = provider.startsWith("openai") || provider.startsWith("azure");
  return !isStrict || (id.startsWith("rs") && id.length <= MAX_ID);
}

/** Reads the reasoning item in the signature of thinking; of a provider that needs it, with its encrypted content. */
export function reasoningItemOf(
  signature: string | undefined,
  needsContent: boolean,
): OpenAIReasoningItem | undefined {
  const item = signature === undefined ? undefined : parseJson(signature)?.value;
  if (!isReasoning(item)) return undefined;
  return needsContent && typeof item.encrypted_content !== "string" ? undefined : item;
}

function isReasoning(item: unknown): item is OpenAIReasoningItem {
  const { type, id, summary } = fieldsOf(item);
  return type === "reasoning" && typeof id === "string" && id !== "" && Array.isArray(summary);
}

/**
 * Returns the part of a call's id that names its item; undefined if the provider would reject it.
 *
 * @param prefix - How the ids of such items begin. Default: any, as of the tools that the AI SDK runs here.
 */
export function callItemOf(id: string, prefix: "fc" | "ctc" | "" = ""): string | undefined {
  const [, item] = id.split("|");
  return item !== undefined && item !== "" && item.startsWith(prefix) && item.length <= MAX_ID
    ? item
    : undefined;
}
