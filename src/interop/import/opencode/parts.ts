import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type AssistantMessage, type ToolResultMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { STOP_REASONS } from "../../convert/ai-sdk/from-model-messages.ts";
import { readAnswer } from "../../convert/ai-sdk/model-parts.ts";
import { familyOfParts, identityOfFamily, readCallState } from "../../convert/ai-sdk/provider-state.ts";
import { stopOrToolUse, usageOf } from "../../convert/answer.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { imageOfDataUrl, placeholder } from "../../convert/images.ts";
import { ifFilled, toolResult } from "../entry-bodies.ts";
import { member, textOf } from "../source-text.ts";

/** Splits the parts of an answer into calls of a model: one, even without parts; in old versions several. */
export function stepsOf(parts: readonly JsonRecord[]): JsonRecord[][] {
  const steps: JsonRecord[][] = [[]];
  for (const part of parts) {
    const isNext = part["type"] === "step-start" && steps.at(-1)?.some(({ type }) => type === "step-finish");
    if (isNext === true) steps.push([]);
    steps.at(-1)?.push(part);
  }
  return steps;
}

/** Converts a call of the model. */
export function readStep(
  info: JsonRecord,
  parts: readonly JsonRecord[],
  isOnly: boolean,
): Omit<AssistantMessage, "timestamp"> {
  const said = parts.flatMap(sdkPart);
  const content = readAnswer(said);
  const told = isOnly ? info : fieldsOf(parts.find(({ type }) => type === "step-finish"));
  const provider = textOf(info["providerID"]) ?? UNKNOWN_NAME;
  const finish = isOnly ? info["finish"] : told["reason"];
  return {
    role: "assistant",
    content,
    api: UNKNOWN_NAME,
    ...identityOfFamily(familyOfParts(said), { timestamp: 0, provider }),
    provider,
    model: textOf(info["modelID"]) ?? UNKNOWN_NAME,
    usage: usageOfTokens(member(told, "tokens"), told["cost"]),
    stopReason: stopOrToolUse(STOP_REASONS.get(finish) ?? "stop", content),
    ...(isOnly && failureOf(info)),
  };
}

/** Converts the tokens of a call; the source's input leaves out the caches, and its output the reasoning. */
export function usageOfTokens({ input, output, reasoning, total, cache }: JsonRecord, cost?: unknown): Usage {
  const { read, write } = fieldsOf(cache);
  const thought = usageOf({ output: reasoning }).output;
  return usageOf({
    input,
    output: usageOf({ output }).output + thought,
    reasoning,
    cacheRead: read,
    cacheWrite: write,
    total,
    cost,
  });
}

/** Returns a part of an answer as the SDK has it from which the program made it. */
function sdkPart(part: JsonRecord): JsonRecord[] {
  const { type, text, tool, metadata } = part;
  const state = metadata === undefined ? {} : { providerMetadata: metadata };
  if (type === "text" || type === "reasoning")
    return text === "" && !metadata ? [] : [{ type, text, ...state }];
  if (type !== "tool") return [];
  const { input } = member(part, "state");
  return [{ type: "tool-call", toolCallId: getSourceCallId(part), toolName: tool, input, ...state }];
}

/** Returns the program's id of a call. */
export function getSourceCallId({ callID, id }: JsonRecord): string {
  return textOf(callID) ?? String(id);
}

/** Returns our id of a call, which its result must name whole: the program's, and that of its item if it has one. */
export function getToolCallId(part: JsonRecord): string {
  return readCallState({ providerMetadata: part["metadata"] }, getSourceCallId(part)).id;
}

function failureOf(info: JsonRecord): Pick<AssistantMessage, "stopReason" | "errorMessage"> | undefined {
  const { name, data } = member(info, "error");
  if (typeof name !== "string") return undefined;
  const stopReason =
    name === "MessageAbortedError" ? "aborted" : name === "MessageOutputLengthError" ? "length" : "error";
  return { stopReason, errorMessage: textOf(fieldsOf(data)["message"]) ?? name };
}

/** What stands in a request for an output that the program has cleared to save room. */
export const CLEARED_OUTPUT = "[Old tool result content cleared]";

/** Converts the result of a tool; undefined while it runs, and if it was killed. */
export function readResult(part: JsonRecord): Omit<ToolResultMessage, "timestamp"> | undefined {
  const state = member(part, "state");
  const { status, output, error, title } = state;
  if (status !== "completed" && status !== "error") return undefined;
  const { output: shown, ...metadata } = member(state, "metadata");
  const details = {
    ...(textOf(title) !== undefined && { title }),
    ...metadata,
    // Commands repeat their output here.
    ...(shown !== undefined && shown !== output && { output: shown }),
  };
  const text = textOf(status === "error" ? error : output);
  const files = listOf(state["attachments"]).map((file) => fileBlock(fieldsOf(file)));
  return toolResult({
    toolCallId: getToolCallId(part),
    toolName: textOf(part["tool"]) ?? "unknown",
    content: [...(text === undefined ? [] : [{ type: "text" as const, text }]), ...files],
    details: ifFilled(details),
    isError: isFailed(part, metadata),
  });
}

/** The program says `completed` of commands that failed or were ended, and of calls of unknown tools, too. */
function isFailed(part: JsonRecord, metadata: JsonRecord): boolean {
  if (member(part, "state")["status"] === "error" || part["tool"] === "invalid") return true;
  return "exit" in metadata && metadata["exit"] !== 0;
}

/** Converts a file: an image, or the text that names it. */
export function fileBlock({ mime, url, filename }: JsonRecord): UserBlock {
  return imageOfDataUrl(url) ?? placeholder(textOf(mime) ?? "file", filename);
}

/** Tells whether a file is only named: the program reads it, and puts what it has read beside it as text. */
export function isOnlyNamed({ mime }: JsonRecord): boolean {
  return mime === "text/plain" || mime === "application/x-directory";
}
