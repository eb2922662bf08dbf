import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import type { TextContent, ThinkingContent, ToolCall } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, parseDataUrl } from "../../convert/images.ts";
import {
  getReasoningText,
  makeTextSignature,
} from "../../convert/openai-responses/openai-responses-content.ts";
import { parseArguments } from "../../convert/tool-arguments.ts";
import { withItemId } from "../../convert/tool-ids.ts";
import { getMember, type SourceRecord, toNonemptyText } from "../source-text.ts";

/** Role of an item in the conversation. */
export type ItemRole = "answer" | "result" | "user" | "instructions" | "agent" | "image" | "opaque" | "other";

/** Returns the role of an item. */
export function classifyItem(item: JsonRecord): ItemRole {
  switch (getItemType(item)) {
    case "message":
      return classifyMessageRole(item["role"]);
    case "reasoning":
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return "answer";
    case "tool_search_call":
      return toNonemptyText(item["call_id"]) === undefined ? "other" : "answer";
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

/** Returns an item's type. The oldest items and the items in test files have a role but no type. */
export function getItemType(item: JsonRecord): string {
  return toNonemptyText(item["type"]) ?? (toNonemptyText(item["role"]) === undefined ? "" : "message");
}

function classifyMessageRole(role: unknown): ItemRole {
  if (role === "assistant") return "answer";
  return role === "user" ? "user" : "instructions";
}

/** Converts an item that is part of an answer. */
export function convertAnswerItem(item: JsonRecord): AnswerBlock[] {
  switch (getItemType(item)) {
    case "message":
      return toArray(item["content"]).map((block) => makeAnswerText(item, toRecord(block)));
    case "reasoning":
      return [makeThinkingBlock(item)];
    default:
      return [makeCallBlock(item)];
  }
}

function makeAnswerText(item: JsonRecord, block: JsonRecord): TextContent {
  const text = toNonemptyText(block["text"]) ?? toNonemptyText(block["refusal"]) ?? "";
  return {
    type: "text",
    text,
    ...makeTextSignature(toNonemptyText(item["id"]), toNonemptyText(item["phase"])),
  };
}

/** Converts reasoning. The signature is the item itself, because the provider expects it back. */
function makeThinkingBlock(item: JsonRecord): ThinkingContent {
  const { id, content, encrypted_content: encrypted } = item;
  const signature = {
    type: "reasoning",
    ...(toNonemptyText(id) !== undefined && { id }),
    summary: toArray(item["summary"]),
    ...(Array.isArray(content) && { content }),
    ...(toNonemptyText(encrypted) !== undefined && { encrypted_content: encrypted }),
  };
  return { type: "thinking", thinking: getReasoningText(item), thinkingSignature: encodeParsed(signature) };
}

function makeCallBlock(item: JsonRecord): ToolCall {
  const namespace = toNonemptyText(item["namespace"]);
  return {
    type: "toolCall",
    id: getCallId(item),
    name:
      toNonemptyText(item["name"]) ??
      (getItemType(item) === "local_shell_call" ? "local_shell" : getItemType(item)),
    arguments: findCallArguments(item) ?? {},
    ...(namespace !== undefined && { namespace }),
  };
}

/** A call's id in sessiontree, and its tool. */
export interface CodexCall {
  readonly id: string;
  readonly name: string;
}

/** Returns a call's id, which combines the id that its result refers to with the item's id. */
export function getCallId(item: JsonRecord): string {
  const [call, id] = [toNonemptyText(item["call_id"]), toNonemptyText(item["id"])];
  return call === undefined ? (id ?? "") : withItemId(call, id);
}

/** Returns the arguments of a call; undefined if they are not a JSON object. */
export function findCallArguments(item: JsonRecord): ToolCall["arguments"] | undefined {
  if (getItemType(item) === "custom_tool_call") return { input: toNonemptyText(item["input"]) ?? "" };
  if (getItemType(item) === "local_shell_call") return parseArguments(item["action"]);
  return parseArguments(item["arguments"]);
}

/** Output of a tool. */
interface ItemResult {
  readonly content: UserBlock[];
  /** Undefined if the output does not report it. */
  readonly isError: boolean | undefined;
  readonly details: JsonRecord | undefined;
}

/** Converts a tool's output. Older outputs are JSON that contains the output and the command's exit status. */
export function toResult(item: JsonRecord): ItemResult {
  const { output } = item;
  if (typeof output === "string") return toTextResult(output);
  if (Array.isArray(output)) return { content: convertInput(output), isError: undefined, details: undefined };
  if (getItemType(item) === "tool_search_output") {
    return { ...toTextResult(encodeParsed(toArray(item["tools"]))), isError: false };
  }
  const { content, success } = toRecord(output);
  const { isError, ...rest } = toTextResult(typeof content === "string" ? content : "");
  return { ...rest, isError: typeof success === "boolean" ? !success : isError };
}

/** Pattern for the exit code that tools report before a command's output. */
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d+)$/m;

function toTextResult(text: string): ItemResult {
  const parsed = text.startsWith("{") ? toRecord(parseJson(text)?.value) : {};
  const { output, metadata } = parsed;
  if (typeof output === "string" && isJsonRecord(metadata)) {
    const exitCode = metadata["exit_code"];
    const isError = typeof exitCode === "number" ? exitCode !== 0 : undefined;
    return { content: [{ type: "text", text: output }], isError, details: metadata };
  }
  // Search only the head, because a command can print anything.
  const [head = ""] = text.split("\nOutput:\n", 1);
  const code = head === text ? undefined : EXIT_CODE.exec(head)?.[1];
  const isError = code === undefined ? undefined : code !== "0";
  return { content: text === "" ? [] : [{ type: "text", text }], isError, details: undefined };
}

const IMAGE_LABEL = /^<image name=\[Image #\d+\][^>]*>$/;

/** Converts model input, without the labels that Codex puts around images. */
export function convertInput(content: unknown): UserBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks = toArray(content).map((block) => convertInputBlock(toRecord(block)));
  return blocks.filter((block, i) => {
    if (block.type === "image") return true;
    const isLabel =
      (IMAGE_LABEL.test(block.text) && blocks[i + 1]?.type === "image") ||
      (block.text === "</image>" && blocks[i - 1]?.type === "image");
    return !isLabel && block.text !== "";
  });
}

function convertInputBlock(block: JsonRecord): UserBlock {
  const { type, text } = block;
  if (typeof text === "string") return { type: "text", text };
  if (type === "input_image") {
    const url = toNonemptyText(block["image_url"]) ?? toNonemptyText(toRecord(block["image_url"])["url"]);
    return parseDataUrl(url) ?? makePlaceholder("image", url ?? toNonemptyText(block["file_id"]));
  }
  return makePlaceholder(toNonemptyText(type) ?? "block of no type");
}

/** Beginnings of text that Codex writes on the user's behalf: its own text, and its reports. */
const OWN_TEXT =
  /^\s*(?:<(?:(?:\w+[_ ])?(?:instructions|context)|turn_aborted|skills?|model_switch|personality_spec|collaboration_mode)>|# AGENTS\.md instructions)/i;
const REPORT = /^\s*<(user_shell_command|subagent_notification)>/;

/** Returns the kind of text that Codex wrote in a user message; undefined if the user typed the text. */
export function readProgramText(
  text: string,
): { readonly kind: string; readonly isReport: boolean } | undefined {
  const [, report] = REPORT.exec(text) ?? [];
  if (report !== undefined) return { kind: report, isReport: true };
  return OWN_TEXT.test(text) ? { kind: "context", isReport: false } : undefined;
}

/** Outcome of a tool call, as reported by events. */
export interface CallOutcome {
  readonly isError: boolean;
  readonly details: JsonRecord;
}

/**
 * Collects the outcomes of tool calls from events, by call id: the exit status of commands, and whether tools failed. Outputs do
 * not always report them.
 */
export function collectOutcomes(records: readonly SourceRecord[]): Map<string, CallOutcome> {
  const outcomes = new Map<string, CallOutcome>();
  for (const { value } of records) {
    if (value["type"] !== "event_msg") continue;
    const payload = getMember(value, "payload");
    const item = payload["type"] === "item_completed" ? getMember(payload, "item") : payload;
    const id = toNonemptyText(item["call_id"]) ?? toNonemptyText(item["id"]);
    const outcome = getOutcome(item);
    if (id !== undefined && outcome !== undefined) outcomes.set(id, outcome);
  }
  return outcomes;
}

function getOutcome(item: JsonRecord): CallOutcome | undefined {
  switch (item["type"]) {
    case "CommandExecution":
      return getCommandOutcome(item);
    case "FileChange":
    case "McpToolCall":
    case "CollabAgentToolCall":
      return {
        isError: item["status"] === "failed" || item["status"] === "declined",
        details: getStatus(item),
      };
    case "mcp_tool_call_end": {
      const { Err: failure, Ok: success } = getMember(item, "result");
      return { isError: failure !== undefined || toRecord(success)["is_error"] === true, details: {} };
    }
    case "patch_apply_end":
      return { isError: item["success"] === false, details: {} };
    default:
      return undefined;
  }
}

function getStatus(item: JsonRecord): JsonRecord {
  const status = toNonemptyText(item["status"]);
  return status === undefined ? {} : { status };
}

function getCommandOutcome(item: JsonRecord): CallOutcome {
  const { exit_code: exitCode } = item;
  const { secs, nanos } = getMember(item, "duration");
  const details = {
    ...getStatus(item),
    ...(typeof exitCode === "number" && { exitCode }),
    ...(typeof secs === "number" && { durationMs: Math.round(toCount(secs) * 1000 + toCount(nanos) / 1e6) }),
  };
  const isFailed = item["status"] === "failed" || item["status"] === "declined";
  return { isError: typeof exitCode === "number" ? exitCode !== 0 : isFailed, details };
}
