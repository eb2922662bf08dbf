import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { TextContent, ThinkingContent, ToolCall } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { countOf } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { imageOfDataUrl, placeholder } from "../../convert/images.ts";
import { reasoningText, textSignature } from "../../convert/openai-responses/openai-responses-content.ts";
import { argumentsOf } from "../../convert/tool-arguments.ts";
import { withItemId } from "../../convert/tool-ids.ts";
import type { SourceRecord } from "../source-text.ts";
import { member, textOf } from "../source-text.ts";

/** Role of an item in the conversation. */
export type ItemRole = "answer" | "result" | "user" | "instructions" | "agent" | "image" | "opaque" | "other";

/** Classifies an item. */
export function itemRole(item: JsonRecord): ItemRole {
  switch (itemType(item)) {
    case "message":
      return messageRole(item["role"]);
    case "reasoning":
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return "answer";
    case "tool_search_call":
      return textOf(item["call_id"]) === undefined ? "other" : "answer";
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
      return "result";
    case "agent_message":
      return "agent";
    case "image_generation_call":
      return "image";
    case "compaction":
    case "context_compaction":
    case "compaction_summary":
      return "opaque";
    default:
      return "other";
  }
}

/** Returns the type of an item; the oldest items and those in test files have a role and no type. */
export function itemType(item: JsonRecord): string {
  return textOf(item["type"]) ?? (textOf(item["role"]) === undefined ? "" : "message");
}

function messageRole(role: unknown): ItemRole {
  if (role === "assistant") return "answer";
  return role === "user" ? "user" : "instructions";
}

/** Converts an item that belongs to an answer. */
export function answerBlocks(item: JsonRecord): AnswerBlock[] {
  switch (itemType(item)) {
    case "message":
      return listOf(item["content"]).map((block) => answerText(item, fieldsOf(block)));
    case "reasoning":
      return [thinkingBlock(item)];
    default:
      return [callBlock(item)];
  }
}

function answerText(item: JsonRecord, block: JsonRecord): TextContent {
  const text = textOf(block["text"]) ?? textOf(block["refusal"]) ?? "";
  return { type: "text", text, ...textSignature(textOf(item["id"]), textOf(item["phase"])) };
}

/** Converts reasoning; the signature is the item itself, because the provider expects it back. */
function thinkingBlock(item: JsonRecord): ThinkingContent {
  const { id, content, encrypted_content: encrypted } = item;
  const signature = {
    type: "reasoning",
    ...(textOf(id) !== undefined && { id }),
    summary: listOf(item["summary"]),
    ...(Array.isArray(content) && { content }),
    ...(textOf(encrypted) !== undefined && { encrypted_content: encrypted }),
  };
  return { type: "thinking", thinking: reasoningText(item), thinkingSignature: encodeParsed(signature) };
}

function callBlock(item: JsonRecord): ToolCall {
  const namespace = textOf(item["namespace"]);
  return {
    type: "toolCall",
    id: callId(item),
    name: textOf(item["name"]) ?? (itemType(item) === "local_shell_call" ? "local_shell" : itemType(item)),
    arguments: callArguments(item) ?? {},
    ...(namespace !== undefined && { namespace }),
  };
}

/** A call: its id here, and its tool. */
export interface CodexCall {
  readonly id: string;
  readonly name: string;
}

/** Returns the id of a call: the one that its result refers to, and that of the item. */
export function callId(item: JsonRecord): string {
  const [call, id] = [textOf(item["call_id"]), textOf(item["id"])];
  return call === undefined ? (id ?? "") : withItemId(call, id);
}

/** Returns the arguments of a call; undefined if they are not a JSON object. */
export function callArguments(item: JsonRecord): ToolCall["arguments"] | undefined {
  if (itemType(item) === "custom_tool_call") return { input: textOf(item["input"]) ?? "" };
  if (itemType(item) === "local_shell_call") return argumentsOf(item["action"]);
  return argumentsOf(item["arguments"]);
}

/** The output of a tool. */
interface ItemResult {
  readonly content: UserBlock[];
  /** Undefined if the output does not say. */
  readonly isError: boolean | undefined;
  readonly details: JsonRecord | undefined;
}

/** Converts the output of a tool; old outputs are a JSON text with the output and how the command ended. */
export function resultOf(item: JsonRecord): ItemResult {
  const { output } = item;
  if (typeof output === "string") return textResult(output);
  if (Array.isArray(output)) return { content: inputBlocks(output), isError: undefined, details: undefined };
  if (itemType(item) === "tool_search_output") {
    return { ...textResult(encodeParsed(listOf(item["tools"]))), isError: false };
  }
  const { content, success } = fieldsOf(output);
  const { isError, ...rest } = textResult(typeof content === "string" ? content : "");
  return { ...rest, isError: typeof success === "boolean" ? !success : isError };
}

/** How tools state a command's exit code, above its output. */
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d+)$/m;

function textResult(text: string): ItemResult {
  const parsed = text.startsWith("{") ? fieldsOf(parseJson(text)?.value) : {};
  const { output, metadata } = parsed;
  if (typeof output === "string" && isJsonRecord(metadata)) {
    const exitCode = metadata["exit_code"];
    const isError = typeof exitCode === "number" ? exitCode !== 0 : undefined;
    return { content: [{ type: "text", text: output }], isError, details: metadata };
  }
  // Search only the head, because a command may print anything.
  const [head = ""] = text.split("\nOutput:\n", 1);
  const code = head === text ? undefined : EXIT_CODE.exec(head)?.[1];
  const isError = code === undefined ? undefined : code !== "0";
  return { content: text === "" ? [] : [{ type: "text", text }], isError, details: undefined };
}

const IMAGE_LABEL = /^<image name=\[Image #\d+\][^>]*>$/;

/** Converts input to a model, without the labels that the program puts around images. */
export function inputBlocks(content: unknown): UserBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks = listOf(content).map((block) => inputBlock(fieldsOf(block)));
  return blocks.filter((block, i) => {
    if (block.type === "image") return true;
    const isLabel =
      (IMAGE_LABEL.test(block.text) && blocks[i + 1]?.type === "image") ||
      (block.text === "</image>" && blocks[i - 1]?.type === "image");
    return !isLabel && block.text !== "";
  });
}

function inputBlock(block: JsonRecord): UserBlock {
  const { type, text } = block;
  if (typeof text === "string") return { type: "text", text };
  if (type === "input_image") {
    const url = textOf(block["image_url"]) ?? textOf(fieldsOf(block["image_url"])["url"]);
    return imageOfDataUrl(url) ?? placeholder("image", url ?? textOf(block["file_id"]));
  }
  return placeholder(textOf(type) ?? "block of no type");
}

/** How texts begin that the program writes in the user's name: its own, and what it reports. */
const OWN_TEXT =
  /^\s*(?:<(?:(?:\w+[_ ])?(?:instructions|context)|turn_aborted|skills?|model_switch|personality_spec|collaboration_mode)>|# AGENTS\.md instructions)/i;
const REPORT = /^\s*<(user_shell_command|subagent_notification)>/;

/** Returns what a text in a user's message is if the program wrote it; undefined for what the user typed. */
export function readProgramText(
  text: string,
): { readonly kind: string; readonly isReport: boolean } | undefined {
  const [, report] = REPORT.exec(text) ?? [];
  if (report !== undefined) return { kind: report, isReport: true };
  return OWN_TEXT.test(text) ? { kind: "context", isReport: false } : undefined;
}

/** How a tool call ended, according to events. */
export interface CallOutcome {
  readonly isError: boolean;
  readonly details: JsonRecord;
}

/** Collects by call id how commands ended, and whether tools failed, from events: outputs do not always say. */
export function collectOutcomes(records: readonly SourceRecord[]): Map<string, CallOutcome> {
  const outcomes = new Map<string, CallOutcome>();
  for (const { value } of records) {
    if (value["type"] !== "event_msg") continue;
    const payload = member(value, "payload");
    const item = payload["type"] === "item_completed" ? member(payload, "item") : payload;
    const id = textOf(item["call_id"]) ?? textOf(item["id"]);
    const outcome = outcomeOf(item);
    if (id !== undefined && outcome !== undefined) outcomes.set(id, outcome);
  }
  return outcomes;
}

function outcomeOf(item: JsonRecord): CallOutcome | undefined {
  switch (item["type"]) {
    case "CommandExecution":
      return commandOutcome(item);
    case "FileChange":
    case "McpToolCall":
    case "CollabAgentToolCall":
      return {
        isError: item["status"] === "failed" || item["status"] === "declined",
        details: statusOf(item),
      };
    case "mcp_tool_call_end": {
      const { Err: failure, Ok: success } = member(item, "result");
      return { isError: failure !== undefined || fieldsOf(success)["is_error"] === true, details: {} };
    }
    case "patch_apply_end":
      return { isError: item["success"] === false, details: {} };
    default:
      return undefined;
  }
}

function statusOf(item: JsonRecord): JsonRecord {
  const status = textOf(item["status"]);
  return status === undefined ? {} : { status };
}

function commandOutcome(item: JsonRecord): CallOutcome {
  const { exit_code: exitCode } = item;
  const { secs, nanos } = member(item, "duration");
  const details = {
    ...statusOf(item),
    ...(typeof exitCode === "number" && { exitCode }),
    ...(typeof secs === "number" && { durationMs: Math.round(countOf(secs) * 1000 + countOf(nanos) / 1e6) }),
  };
  const isFailed = item["status"] === "failed" || item["status"] === "declined";
  return { isError: typeof exitCode === "number" ? exitCode !== 0 : isFailed, details };
}
