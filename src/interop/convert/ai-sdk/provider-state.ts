import { toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import type { TextContent, ThinkingContent, ToolCall } from "../../../core/format/content.ts";
import type { AssistantMessage } from "../../../core/format/message.ts";
import { makeRedactedThinking } from "../anthropic/anthropic-content.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import { isSignature } from "../gemini/gemini-content.ts";
import {
  findCallItem,
  getReasoningParts,
  isReasoningId,
  makeTextSignature,
  parseReasoningItem,
  parseTextItem,
} from "../openai-responses/openai-responses-content.ts";
import { getCallState } from "../raw-form.ts";
import { withItemId } from "../tool-ids.ts";
import type { ModelProviderOptions, ModelReasoningPart } from "./model-message-types.ts";

/** Providers whose state the AI SDK transports, named like the SDK's fields. */
export type Family = "anthropic" | "openai" | "google";

const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ["anthropic-messages", "anthropic"],
  ["openai-responses", "openai"],
  ["openai-codex-responses", "openai"],
  ["azure-openai-responses", "openai"],
  ["google-generative-ai", "google"],
  ["google-vertex", "google"],
]);

/** API of messages that contain a provider's state. */
const FAMILY_APIS: Readonly<Record<Family, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
};

/** Returns the provider whose state an API's messages contain; undefined if they contain no state. */
export function findFamily(api: string): Family | undefined {
  return FAMILIES.get(api);
}

/** Returns the provider of the first state in the given parts. */
export function findFamilyOfParts(parts: readonly unknown[]): Family | undefined {
  return parts.map(findFamilyOfPart).find((family) => family !== undefined);
}

function findFamilyOfPart(part: unknown): Family | undefined {
  const options = getProviderState(part);
  return (["anthropic", "openai", "google"] as const).find((family) => options[family] !== undefined);
}

/** Returns the API and provider of an answer. Its state takes precedence over options, which may apply to many answers. */
export function getFamilyIdentity(
  family: Family | undefined,
  options: MessageImportOptions,
): { api?: string; provider?: string } {
  if (family === undefined) return {};
  const { api = FAMILY_APIS[family], provider = family } = options;
  return findFamily(api) === family ? { api, provider } : { api: FAMILY_APIS[family], provider: family };
}

/** Returns the provider state of a part of a model message or UI message. */
export function getProviderState(part: unknown): { readonly [name: string]: unknown } {
  const { providerOptions, providerMetadata } = toRecord(part);
  return toRecord(providerOptions ?? providerMetadata ?? getCallState(part));
}

/** Returns whether thinking can be sent back through an API. */
export function canReplay(
  { thinking, thinkingSignature }: ThinkingContent,
  { api, provider }: Pick<AssistantMessage, "api" | "provider">,
): boolean {
  const isSigned = thinkingSignature !== undefined && thinkingSignature !== "";
  switch (findFamily(api)) {
    case "anthropic":
      return isSigned;
    case "openai": {
      const item = parseReasoningItem(thinkingSignature, false);
      return item !== undefined && isReasoningId(provider, item.id);
    }
    case "google":
      return isSigned ? isSignature(thinkingSignature) : thinking !== "";
    default:
      return thinking !== "";
  }
}

/** Returns whether the signature of a text block or a call can be sent back through an API. */
export function canSign(signature: string, api: string): boolean {
  const family = findFamily(api);
  if (family === "google") return isSignature(signature);
  return family === "openai" && parseTextItem(signature) !== undefined;
}

/** Writes thinking. For OpenAI, writes one part per paragraph in the summary. */
export function writeReasoning(block: ThinkingContent, family: Family | undefined): ModelReasoningPart[] {
  const { thinking: text, thinkingSignature: signature = "", redacted } = block;
  if (family === "anthropic" && redacted && signature !== "") {
    return [{ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: signature } } }];
  }
  if (family === undefined) return [{ type: "reasoning", text }];
  if (family !== "openai") {
    const field = family === "anthropic" ? "signature" : "thoughtSignature";
    const hasState = family === "google" ? isSignature(signature) : signature !== "";
    if (!hasState) return [{ type: "reasoning", text }];
    return [{ type: "reasoning", text, providerOptions: { [family]: { [field]: signature } } }];
  }
  const item = parseReasoningItem(signature, false);
  if (item === undefined) return text === "" ? [] : [{ type: "reasoning", text }];
  const encrypted = item.encrypted_content;
  const providerOptions = {
    openai: {
      itemId: item.id,
      ...(typeof encrypted === "string" && { reasoningEncryptedContent: encrypted }),
    },
  };
  const summary = getReasoningParts(item.summary);
  // Open models return the reasoning itself instead of a summary.
  const texts = summary.length > 0 ? summary : getReasoningParts(item.content);
  return (texts.length > 0 ? texts : [""]).map((summary) => ({
    type: "reasoning",
    text: summary,
    providerOptions,
  }));
}

/** Reads thinking from one part, or from all parts of one OpenAI item. */
export function readReasoning(parts: readonly unknown[]): ThinkingContent {
  const { anthropic, openai, google } = getProviderState(parts[0]);
  const texts = parts.map((part) => toText(toRecord(part)["text"]));
  const { signature, redactedData } = toRecord(anthropic);
  if (typeof redactedData === "string") return makeRedactedThinking(redactedData);
  const { itemId } = toRecord(openai);
  if (typeof itemId === "string") return readItem(itemId, texts, parts);
  const { thoughtSignature = signature } = toRecord(google);
  const thinking = texts.join("\n\n");
  return typeof thoughtSignature === "string"
    ? { type: "thinking", thinking, thinkingSignature: thoughtSignature }
    : { type: "thinking", thinking };
}

function readItem(id: string, texts: readonly string[], parts: readonly unknown[]): ThinkingContent {
  const states = parts.map((part) => toRecord(getProviderState(part)["openai"])["reasoningEncryptedContent"]);
  const encrypted = states.find((state) => typeof state === "string");
  const summary = texts.filter((text) => text !== "").map((text) => ({ type: "summary_text", text }));
  const item = {
    type: "reasoning",
    id,
    summary,
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
  return { type: "thinking", thinking: texts.join("\n\n"), thinkingSignature: JSON.stringify(item) };
}

/** Returns the field with the state of a text block or a call; an empty object if there is no state. */
export function writeState(
  block: TextContent | ToolCall,
  family: Family | undefined,
): { providerOptions?: ModelProviderOptions } {
  const signature = block.type === "text" ? block.textSignature : block.thoughtSignature;
  if (family === "google" && isSignature(signature)) {
    return { providerOptions: { google: { thoughtSignature: signature } } };
  }
  if (family !== "openai") return {};
  const openai = block.type === "text" ? makeTextState(block) : makeCallState(block);
  return Object.keys(openai).length === 0 ? {} : { providerOptions: { openai } };
}

function makeTextState({ textSignature }: TextContent): Record<string, string> {
  const item = parseTextItem(textSignature);
  if (item === undefined) return {};
  return { itemId: item.id, ...(item.phase !== undefined && { phase: item.phase }) };
}

function makeCallState({ id, namespace }: ToolCall): Record<string, string> {
  const itemId = findCallItem(id);
  return { ...(itemId !== undefined && { itemId }), ...(namespace !== undefined && { namespace }) };
}

/** Reads the signature of a text block. */
export function readTextSignature(part: unknown): { textSignature?: string } {
  const { openai, google } = getProviderState(part);
  const { itemId, phase } = toRecord(openai);
  const { thoughtSignature } = toRecord(google);
  if (typeof itemId === "string") return makeTextSignature(itemId, phase);
  return typeof thoughtSignature === "string" ? { textSignature: thoughtSignature } : {};
}

/** Reads the state of a call: its stored id, namespace, and signature. */
export function readCallState(
  part: unknown,
  toolCallId: string,
): Pick<ToolCall, "id" | "namespace" | "thoughtSignature"> {
  const { openai, google } = getProviderState(part);
  const { itemId, namespace } = toRecord(openai);
  const { thoughtSignature } = toRecord(google);
  return {
    id: withItemId(toolCallId, itemId),
    ...(typeof namespace === "string" && { namespace }),
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}
