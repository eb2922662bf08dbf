import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { type AssistantMessage, type ToolResultMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { STOP_REASONS } from "../../convert/ai-sdk/from-model-messages.ts";
import { readAnswer } from "../../convert/ai-sdk/model-parts.ts";
import { findFamilyOfParts, getFamilyIdentity, readCallState } from "../../convert/ai-sdk/provider-state.ts";
import { chooseStopReason, toUsage } from "../../convert/answer.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, parseDataUrl } from "../../convert/images.ts";
import { makeToolResult, toFilled } from "../entry-bodies.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** Splits the parts of an answer into model calls: always at least one, and several in old versions. */
export function splitSteps(parts: readonly JsonRecord[]): JsonRecord[][] {
  const steps: JsonRecord[][] = [[]];
  for (const part of parts) {
    const isNext = part["type"] === "step-start" && steps.at(-1)?.some(({ type }) => type === "step-finish");
    if (isNext === true) steps.push([]);
    steps.at(-1)?.push(part);
  }
  return steps;
}

/** Converts a model call. */
export function readStep(
  info: JsonRecord,
  parts: readonly JsonRecord[],
  isOnly: boolean,
): Omit<AssistantMessage, "timestamp"> {
  const said = parts.flatMap(toSdkParts);
  const content = readAnswer(said);
  const told = isOnly ? info : toRecord(parts.find(({ type }) => type === "step-finish"));
  const provider = toNonemptyText(info["providerID"]) ?? UNKNOWN_NAME;
  const finish = isOnly ? info["finish"] : told["reason"];
  return {
    role: "assistant",
    content,
    api: UNKNOWN_NAME,
    ...getFamilyIdentity(findFamilyOfParts(said), { timestamp: 0, provider }),
    provider,
    model: toNonemptyText(info["modelID"]) ?? UNKNOWN_NAME,
    usage: convertTokens(getMember(told, "tokens"), told["cost"]),
    stopReason: chooseStopReason(STOP_REASONS.get(finish) ?? "stop", content),
    ...(isOnly && findFailure(info)),
  };
}

/** Converts a call's token counts. The source's input count excludes the caches, and its output count excludes reasoning. */
export function convertTokens({ input, output, reasoning, total, cache }: JsonRecord, cost?: unknown): Usage {
  const { read, write } = toRecord(cache);
  const thought = toUsage({ output: reasoning }).output;
  return toUsage({
    input,
    output: toUsage({ output }).output + thought,
    reasoning,
    cacheRead: read,
    cacheWrite: write,
    total,
    cost,
  });
}

/** Returns a part of an answer in the format of the SDK that OpenCode converted it from. */
function toSdkParts(part: JsonRecord): JsonRecord[] {
  const { type, text, tool, metadata } = part;
  const state = metadata === undefined ? {} : { providerMetadata: metadata };
  if (type === "text" || type === "reasoning")
    return text === "" && !metadata ? [] : [{ type, text, ...state }];
  if (type !== "tool") return [];
  const { input } = getMember(part, "state");
  return [{ type: "tool-call", toolCallId: getSourceCallId(part), toolName: tool, input, ...state }];
}

/** Returns OpenCode's id for a call. */
export function getSourceCallId({ callID, id }: JsonRecord): string {
  return toNonemptyText(callID) ?? toSafeString(id);
}

/** Returns sessiontree's id for a call: OpenCode's id, plus the item id if it exists. Results must use the full id. */
export function getToolCallId(part: JsonRecord): string {
  return readCallState({ providerMetadata: part["metadata"] }, getSourceCallId(part)).id;
}

function findFailure(info: JsonRecord): Pick<AssistantMessage, "stopReason" | "errorMessage"> | undefined {
  const { name, data } = getMember(info, "error");
  if (typeof name !== "string") return undefined;
  const stopReason =
    name === "MessageAbortedError" ? "aborted" : name === "MessageOutputLengthError" ? "length" : "error";
  return { stopReason, errorMessage: toNonemptyText(toRecord(data)["message"]) ?? name };
}

/** Text that replaces an output in a request after OpenCode has cleared it to save space. */
export const CLEARED_OUTPUT = "[Old tool result content cleared]";

/** Converts a tool's result; undefined if the tool is still running or was killed. */
export function readResult(part: JsonRecord): Omit<ToolResultMessage, "timestamp"> | undefined {
  const state = getMember(part, "state");
  const { status, output, error, title } = state;
  if (status !== "completed" && status !== "error") return undefined;
  const { output: shown, ...metadata } = getMember(state, "metadata");
  const details = {
    ...(toNonemptyText(title) !== undefined && { title }),
    ...metadata,
    // Commands repeat their output in the metadata.
    ...(shown !== undefined && shown !== output && { output: shown }),
  };
  const text = toNonemptyText(status === "error" ? error : output);
  const files = toArray(state["attachments"]).map((file) => toFileBlock(toRecord(file)));
  return makeToolResult({
    toolCallId: getToolCallId(part),
    toolName: toNonemptyText(part["tool"]) ?? "unknown",
    content: [...(text === undefined ? [] : [{ type: "text" as const, text }]), ...files],
    details: toFilled(details),
    isError: isFailed(part, metadata),
  });
}

/**
 * Returns whether a call failed. OpenCode also reports `completed` for commands that failed or were killed, and for calls of
 * unknown tools.
 */
function isFailed(part: JsonRecord, metadata: JsonRecord): boolean {
  if (getMember(part, "state")["status"] === "error" || part["tool"] === "invalid") return true;
  return "exit" in metadata && metadata["exit"] !== 0;
}

/** Converts a file to an image, or to text that identifies the file. */
export function toFileBlock({ mime, url, filename }: JsonRecord): UserBlock {
  return parseDataUrl(url) ?? makePlaceholder(toNonemptyText(mime) ?? "file", filename);
}

/** Returns whether a file is only a reference. OpenCode reads such a file and adds its content as separate text. */
export function isOnlyNamed({ mime }: JsonRecord): boolean {
  return mime === "text/plain" || mime === "application/x-directory";
}
