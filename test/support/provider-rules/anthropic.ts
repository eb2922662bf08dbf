import { isDeepStrictEqual } from "node:util";
import { fields, list, repeated, text, unicodeFaults } from "./json.ts";

/** Server state that is not in the request. */
export interface AnthropicKnowledge {
  /** Contents of the answers that it returned in this conversation, in any order. */
  readonly issued?: readonly unknown[];
  /** Whether a signature is one of its own, for this thinking. Default: any that is not empty. */
  readonly isSignature?: (signature: string, thinking: string) => boolean;
}

type Fault = (fault: string) => void;

const TOP_LEVEL = new Set([
  ...["max_tokens", "messages", "model", "system", "tools", "tool_choice", "thinking", "stream", "metadata"],
  ...["temperature", "top_p", "top_k", "stop_sequences", "service_tier", "output_config", "cache_control"],
]);
const IMAGE_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const SIGNED = new Set(["thinking", "redacted_thinking"]);
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Returns the errors that the Messages API would return with status 400.
 *
 * @param request - The body, or its `{ system, messages }`.
 * @returns One line for each fault, in the provider's words; empty if the request is accepted.
 */
export function checkAnthropicRequest(request: unknown, knowledge: AnthropicKnowledge = {}): string[] {
  const faults = unicodeFaults(request);
  const fault: Fault = (line) => faults.push(line);
  const { messages, system } = fields(request);
  for (const key of Object.keys(fields(request))) {
    if (!TOP_LEVEL.has(key)) fault(`${key}: Extra inputs are not permitted`);
  }
  checkTexts(typeof system === "string" ? [{ type: "text", text: system }] : list(system), "system", fault);
  if (list(messages).length === 0) fault("messages: at least one message is required");
  else if (fields(list(messages)[0])["role"] !== "user")
    fault('messages: first message must use the "user" role');
  list(messages).forEach((message, at) => {
    checkMessage(message, `messages.${at}`, at === list(messages).length - 1, knowledge, fault);
  });
  checkPairs(list(messages), fault);
  checkLatestThinking(list(messages), knowledge, fault);
  if (fields(fields(request)["thinking"])["type"] === "enabled")
    checkStartsWithThinking(list(messages), fault);
  return faults;
}

function getBlocks(message: unknown): readonly unknown[] {
  const { content } = fields(message);
  return typeof content === "string" ? [{ type: "text", text: content }] : list(content);
}

function ofType(message: unknown, type: string): { readonly [name: string]: unknown }[] {
  return getBlocks(message)
    .map(fields)
    .filter((block) => block["type"] === type);
}

function checkTexts(blocks: readonly unknown[], place: string, fault: Fault): void {
  for (const block of blocks) {
    const { type, text: said } = fields(block);
    if (type !== "text") continue;
    if (text(said) === "") fault(`${place}: text content blocks must be non-empty`);
    else if (text(said).trim() === "")
      fault(`${place}: text content blocks must contain non-whitespace text`);
  }
}

function checkMessage(
  message: unknown,
  place: string,
  isLast: boolean,
  knowledge: AnthropicKnowledge,
  fault: Fault,
): void {
  const { role } = fields(message);
  if (role !== "user" && role !== "assistant") fault(`${place}.role: Input should be 'user' or 'assistant'`);
  const blocks = getBlocks(message);
  if (blocks.length === 0) fault(`${place}: ${String(role)} messages must have non-empty content`);
  checkTexts(blocks, place, fault);
  blocks.forEach((block, at) => {
    checkBlock(fields(block), String(role), `${place}.content.${at}`, knowledge, fault);
  });
  if (role !== "assistant") return;
  const last = fields(blocks.at(-1));
  if (SIGNED.has(text(last["type"])))
    fault(`${place}: The final block in an assistant message cannot be \`thinking\`.`);
  if (isLast && last["type"] === "text" && /\s$/.test(text(last["text"]))) {
    fault("messages: final assistant content cannot end with trailing whitespace");
  }
}

function checkBlock(
  block: { readonly [name: string]: unknown },
  role: string,
  place: string,
  { isSignature = (signature) => signature !== "" }: AnthropicKnowledge,
  fault: Fault,
): void {
  const type = text(block["type"]);
  const isAnswers = SIGNED.has(type) || type === "tool_use";
  if (isAnswers && role !== "assistant")
    fault(`${place}: \`${type}\` blocks can only be in \`assistant\` messages`);
  if ((type === "tool_result" || type === "image") && role !== "user") {
    fault(`${place}: \`${type}\` blocks can only be in \`user\` messages`);
  }
  if (type === "image") checkImage(block, place, fault);
  if (type === "tool_use") {
    if (!ID.test(text(block["id"])))
      fault(`${place}.tool_use.id: String should match pattern '${ID.source}'`);
    if (typeof block["input"] !== "object")
      fault(`${place}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === "thinking" && typeof block["signature"] !== "string")
    fault(`${place}.thinking.signature: Field required`);
  else if (type === "thinking" && !isSignature(text(block["signature"]), text(block["thinking"]))) {
    fault(`${place}: Invalid \`signature\` in \`thinking\` block`);
  }
  if (type === "redacted_thinking" && text(block["data"]) === "")
    fault(`${place}.redacted_thinking.data: Field required`);
  if (type === "tool_result") checkResult(block, place, fault);
}

function checkImage(block: unknown, place: string, fault: Fault): void {
  const { type, data, media_type } = fields(fields(block)["source"]);
  if (type !== "base64") return;
  if (text(data) === "") fault(`${place}.source.base64.data: image cannot be empty`);
  if (!IMAGE_TYPES.has(text(media_type)))
    fault(`${place}.source.base64.media_type: Input should be an image type`);
}

function checkResult(block: unknown, place: string, fault: Fault): void {
  const { content, is_error } = fields(block);
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  checkTexts(parts, `${place}.tool_result`, fault);
  for (const part of parts)
    if (fields(part)["type"] === "image") checkImage(part, `${place}.tool_result`, fault);
  if (is_error !== true) return;
  if (parts.length === 0) fault(`${place}.tool_result: content cannot be empty if \`is_error\` is true`);
  if (parts.some((part) => fields(part)["type"] !== "text")) {
    fault(`${place}.tool_result: all content must be type "text" if \`is_error\` is true`);
  }
}

function checkPairs(messages: readonly unknown[], fault: Fault): void {
  const getId = (block: { readonly [name: string]: unknown }) => text(block["id"] ?? block["tool_use_id"]);
  for (const id of repeated(messages.flatMap((message) => ofType(message, "tool_use").map(getId)))) {
    fault(`messages: \`tool_use\` ids must be unique: ${id}`);
  }
  messages.forEach((message, at) => {
    const calls = ofType(message, "tool_use").map(getId);
    const next = messages[at + 1];
    const answers = fields(next)["role"] === "user" ? ofType(next, "tool_result").map(getId) : [];
    const missing = calls.filter((id) => !answers.includes(id));
    if (missing.length > 0) {
      fault(
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. ` +
          "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      );
    }
    const asked = ofType(messages[at - 1], "tool_use").map(getId);
    const results = ofType(message, "tool_result").map(getId);
    for (const id of results.filter((one) => !asked.includes(one))) {
      fault(
        `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
      );
    }
    for (const id of repeated(results))
      fault(`messages.${at}: each tool_use must have a single result: ${id}`);
    const types = getBlocks(message).map((block) => fields(block)["type"] === "tool_result");
    if (types.lastIndexOf(true) > types.indexOf(false) && types.includes(false)) {
      fault(`messages.${at}: \`tool_result\` blocks must come first in the message`);
    }
  });
}

/** The thinking of the latest answer must be in place and whole, as the server returned it, or be removed entirely. */
function checkLatestThinking(
  messages: readonly unknown[],
  { issued = [] }: AnthropicKnowledge,
  fault: Fault,
): void {
  const latest = messages.findLast((message) => fields(message)["role"] === "assistant");
  const sent = getBlocks(latest);
  if (!sent.some((block) => SIGNED.has(text(fields(block)["type"])))) return;
  if (issued.length === 0 || issued.some((content) => isSameInPlace(list(content), sent))) return;
  fault(
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. " +
      "These blocks must remain as they were in the original response.",
  );
}

/** With thinking on, an answer whose results come last must start with it. */
function checkStartsWithThinking(messages: readonly unknown[], fault: Fault): void {
  if (ofType(messages.at(-1), "tool_result").length === 0) return;
  const latest = messages.findLast((message) => fields(message)["role"] === "assistant");
  const [first] = getBlocks(latest);
  const type = text(fields(first)["type"]);
  if (SIGNED.has(type)) return;
  fault(
    `messages.${messages.indexOf(latest)}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. ` +
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
  );
}

/** Returns whether two contents have the same thinking, each between the same kinds of blocks. */
function isSameInPlace(given: readonly unknown[], sent: readonly unknown[]): boolean {
  const shape = (blocks: readonly unknown[]) =>
    blocks
      .map((block) => (SIGNED.has(text(fields(block)["type"])) ? block : text(fields(block)["type"])))
      .filter((one, at, all) => typeof one !== "string" || one !== all[at - 1]);
  return isDeepStrictEqual(shape(given), shape(sent));
}
