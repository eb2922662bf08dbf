import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { hashText } from "../../../core/format/ids.ts";
import { isJsonRecord, type JsonObject, toSafeString } from "../../../core/format/json.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { toWire } from "../bedrock/bedrock-content.ts";
import { isSameJson } from "../raw-form.ts";
import { isSummaryBlock, type RequestRecord, readSummary } from "./provider-summary.ts";

/** Message in a request, in the provider's form. */
export interface WrittenMessage {
  readonly role: string;
  readonly content: unknown;
  /** Index of the first session message that it contains. */
  readonly index: number;
}

/** Key in an answer's `details` for the record of its request. */
const RECORD = "requestHash";

/** Hash of the content before the first message. */
const NO_MESSAGES = "";

/** Digests of written messages, by first session message and role. */
const digests = new WeakMap<object, Map<string, { readonly said: unknown; readonly digest: string }>>();

/** First session message in a request's message, and its entry. */
export interface WrittenSource {
  readonly message: AgentMessage;
  readonly entry: SessionEntry;
}

const sources = new WeakMap<object, WrittenSource>();

/** Records the sources of a request's messages, so that later reports on the request can identify entries. */
export function rememberSources(
  written: readonly WrittenMessage[],
  messages: readonly object[],
  sourceAt: (index: number) => WrittenSource | undefined,
): void {
  messages.forEach((message, at) => {
    const source = sourceAt(written[at]?.index ?? -1);
    if (source !== undefined) sources.set(message, source);
  });
}

/** Returns the source of a request's message; undefined if unknown, such as for a copy. */
export function findSource(message: unknown): WrittenSource | undefined {
  return typeof message === "object" && message !== null ? sources.get(message) : undefined;
}

/**
 * Hashes messages: the content before each message, and the whole content.
 *
 * A summary from the provider replaces the messages that it covers.
 */
export function hashMessages(
  messages: readonly Pick<WrittenMessage, "role" | "content" | "index">[],
  sourceAt: (index: number) => WrittenSource | undefined,
): { readonly before: string[]; readonly all: string } {
  const before: string[] = [];
  let all = NO_MESSAGES;
  for (const { role, content, index } of messages) {
    before.push(all);
    const source = sourceAt(index);
    const summary = isSummaryBlock(content) ? readSummary(source?.entry) : undefined;
    all = summary?.record.messages ?? hashText(`${all}\n${digestMessage(role, content, source?.message)}`);
  }
  return { before, all };
}

/**
 * Returns the digest of a written message.
 *
 * @param source - First session message in it. Its digest is cached and reused unless the message is written
 *   differently.
 */
export function digestMessage(role: string, content: unknown, source: object | undefined): string {
  const said = withoutThinking(content);
  const known = source && digests.get(source)?.get(role);
  if (known !== undefined && isSameJson(known.said, said)) return known.digest;
  const digest = hashText(encodeParsed([role, said]));
  if (source === undefined) return digest;
  const byRole = digests.get(source) ?? new Map();
  digests.set(source, byRole.set(role, { said, digest }));
  return digest;
}

/** Returns the digest of the system text at the front of a request. */
export function digestSystem(system: unknown): string {
  const blocks = typeof system === "string" ? [system] : toArray(system);
  const texts = blocks.map((block) => toRecord(block)["text"] ?? unmarked(block));
  return hashText(encodeParsed(texts.filter((text) => text !== "")));
}

/** Returns the digest of the tools in a request. */
export function digestTools(tools: unknown): string {
  return hashText(encodeParsed(toArray(tools).map(unmarked)));
}

/** Creates the `details` that record the sent request, in Anthropic's or Bedrock's form. */
export function keepRequest(request: object | undefined): JsonObject {
  if (request === undefined) return {};
  if (!isJsonRecord(request))
    throw new TypeError("The request of an answer must be the object that was sent.");
  const { system, tools, toolConfig, messages } = request;
  const written = toArray(messages);
  const hashed = hashMessages(
    written.map(toRecord).map(({ role, content }, index) => ({ role: toSafeString(role), content, index })),
    (index) => findSource(written[index]),
  );
  const last = written.flatMap((message) => listSignatures(toRecord(message)["content"])).at(-1);
  const record: JsonObject = {
    system: digestSystem(toWire(system)),
    tools: digestTools(tools ?? toRecord(toolConfig)["tools"]),
    messages: hashed.all,
    thinking: digestSignature(last),
  };
  return { [RECORD]: record };
}

/** Returns the record of an answer's request; undefined if it is missing or malformed. */
export function readRecord(message: object): RequestRecord | undefined {
  const { system, tools, messages, thinking } = toRecord(toRecord(toRecord(message)["details"])[RECORD]);
  if (typeof system !== "string" || typeof tools !== "string") return undefined;
  if (typeof messages !== "string" || typeof thinking !== "string") return undefined;
  return { system, tools, messages, thinking };
}

/** Returns the digest of a signature, which may be as long as the signed content; empty if there is no signature. */
export function digestSignature(signature: string | undefined): string {
  return signature === undefined ? "" : hashText(signature);
}

/** Returns the signatures of thinking in written content, in Anthropic's or Bedrock's form. */
function listSignatures(content: unknown): string[] {
  return toArray(content).flatMap((block) => {
    if (!isThinkingBlock(block)) return [];
    const { signature, data, reasoningContent } = toRecord(toWire(block));
    const { reasoningText, redactedContent } = toRecord(reasoningContent);
    return [toSafeString(signature ?? data ?? redactedContent ?? toRecord(reasoningText)["signature"])];
  });
}

/**
 * Returns whether a block in Anthropic's or Bedrock's form is thinking. The content that binds thinking does not
 * include thinking.
 */
export function isThinkingBlock(block: unknown): boolean {
  const { type, reasoningContent } = toRecord(block);
  return type === "thinking" || type === "redacted_thinking" || reasoningContent !== undefined;
}

/** Returns content as blocks, excluding thinking and cache markers. */
function withoutThinking(content: unknown): unknown {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return content;
  const blocks = content.filter(
    (block) => !isThinkingBlock(block) && toRecord(block)["cachePoint"] === undefined,
  );
  return blocks.map((block) => unmarked(hasBytes(block) ? toWire(block) : block));
}

function hasBytes(block: unknown): boolean {
  return toRecord(block)["type"] === undefined;
}

/** Copies a block without the cache markers in it and in its nested blocks. */
function unmarked(block: unknown): unknown {
  if (!isJsonRecord(block)) return block;
  const { cache_control: _, content, ...rest } = block;
  if (content === undefined) return rest;
  return { ...rest, content: Array.isArray(content) ? content.map(unmarked) : content };
}
