import { fieldsOf } from "../../context/entry-fields.ts";
import type { ToolResultMessage, UserMessage } from "../../schema/message.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { dataUrlOf } from "../images.ts";
import { isSameJson, keepRaw, rawOf, withoutFields } from "../raw-form.ts";
import { readAnswer, readOutput, readUser, writeAnswer } from "./model-parts.ts";
import type { Family } from "./provider-state.ts";
import type { UIFilePart, UIPart, UITextPart, UIToolPart } from "./ui-message-types.ts";

/** Said for a call that somebody did not allow. */
const DENIED = "Tool execution was denied.";

/** Writes what the user says. */
export function writeUserParts(content: UserMessage["content"]): (UITextPart | UIFilePart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((block) =>
    block.type === "text"
      ? { type: "text", text: block.text }
      : { type: "file", mediaType: block.mimeType, url: dataUrlOf(block) },
  );
}

/** Reads what the user says; what is for the host only, such as data, is passed over. A text alone stays one. */
export function readUserParts(parts: readonly object[]): UserMessage["content"] {
  const said = parts.filter((part) => ["text", "file"].includes(String(fieldsOf(part)["type"])));
  const blocks = readUser(said) ?? [];
  const [first] = blocks;
  return blocks.length === 1 && typeof first === "object" && first.type === "text" ? first.text : blocks;
}

/** A call's result, for who writes it. */
export interface PartResult {
  readonly message: Pick<ToolResultMessage, "content" | "isError" | "details">;
  /** Whether there is none yet, and the user interface may still give one. */
  readonly isOpen: boolean;
}

/**
 * Writes one model call.
 *
 * @param results - By our ids of their calls.
 */
export function writeStep(
  content: readonly AnswerBlock[],
  results: ReadonlyMap<string, PartResult>,
  family: Family | undefined,
  idOf: (id: string) => string,
): UIPart[] {
  const calls = content.filter((block) => block.type === "toolCall");
  const parts = writeAnswer(content, family, idOf).map((part): UIPart => {
    const { providerOptions } = part;
    if (part.type !== "tool-call") {
      const { type, text } = part;
      return { type, text, ...(providerOptions !== undefined && { providerMetadata: providerOptions }) };
    }
    const call = calls.shift();
    const state = providerOptions === undefined ? {} : { callProviderMetadata: providerOptions };
    const { toolName, toolCallId, input } = part;
    return {
      type: `tool-${toolName}`,
      toolCallId,
      input,
      ...state,
      ...writeOutcome(results.get(call?.id ?? "")),
    };
  });
  return [{ type: "step-start" }, ...parts];
}

type Outcome = UIToolPart extends infer Part
  ? Part extends UIToolPart
    ? Omit<Part, "type" | "toolCallId" | "input">
    : never
  : never;

function writeOutcome(result: PartResult | undefined): Outcome {
  if (result === undefined || result.isOpen) return { state: "input-available" };
  const { message } = result;
  const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (message.isError) return { state: "output-error", errorText: texts.join("\n") };
  return { state: "output-available", output: outputOf(message, texts) };
}

function outputOf(message: PartResult["message"], texts: readonly string[]): unknown {
  const kept = fieldsOf(rawOf(message, "uiMessage"));
  if ("output" in kept && isSameJson(readToolOutput(kept["output"]), message.content)) return kept["output"];
  if (message.content.length === texts.length && texts.length < 2) return texts.join("");
  return { type: "content", value: message.content };
}

function readToolOutput(output: unknown): UserBlock[] {
  const { type, value } = fieldsOf(output);
  if (type !== "content" || !Array.isArray(value))
    return readOutput("json", output === undefined ? "" : output);
  return value.flatMap((block): UserBlock[] => {
    const { type: kind, text, data, mimeType } = fieldsOf(block);
    if (kind === "text" && typeof text === "string") return [{ type: "text", text }];
    if (typeof data !== "string" || typeof mimeType !== "string") return readOutput("content", [block]);
    return [{ type: "image", data, mimeType }];
  });
}

/** A model call that was read. */
export interface ReadStep {
  readonly content: AnswerBlock[];
  readonly results: readonly {
    readonly result: ReadResult;
    readonly toolName: string;
    readonly details: ReturnType<typeof keepRaw> | undefined;
  }[];
}

/** Reads one model call: what was said, the calls, and what came of them. */
export function readStep(parts: readonly object[]): ReadStep {
  const given = parts.map((part) => (isToolPart(part) ? asCallPart(part) : part));
  return { content: readAnswer(given), results: parts.flatMap(readOutcome) };
}

/** Tells whether a part is a tool call, of a tool that is known in advance or not. */
export function isToolPart(part: object): boolean {
  const { type } = fieldsOf(part);
  return typeof type === "string" && (type.startsWith("tool-") || type === "dynamic-tool");
}

/** Returns the name of the tool that a part calls. */
export function toolNameOf(part: object): unknown {
  const { type, toolName } = fieldsOf(part);
  return type === "dynamic-tool" ? toolName : String(type).slice("tool-".length);
}

function asCallPart(part: object): object {
  const { input, rawInput, toolCallId, providerExecuted, callProviderMetadata } = fieldsOf(part);
  return {
    type: "tool-call",
    toolCallId,
    toolName: toolNameOf(part),
    input: input ?? rawInput,
    providerExecuted,
    callProviderMetadata,
  };
}

function readOutcome(part: object): ReadStep["results"] {
  const { state, output, errorText, approval, toolCallId, providerExecuted, preliminary } = fieldsOf(part);
  const toolName = toolNameOf(part);
  const isOurs = isToolPart(part) && providerExecuted !== true && preliminary !== true;
  if (!isOurs || typeof toolCallId !== "string" || typeof toolName !== "string") return [];
  if (state === "output-available") {
    const isText = typeof output === "string" || output === undefined;
    const details = isText ? undefined : keepRaw("uiMessage", { output });
    return [{ result: { toolCallId, content: readToolOutput(output), isError: false }, toolName, details }];
  }
  if (state !== "output-error" && state !== "output-denied") return [];
  const { reason } = fieldsOf(approval);
  const text = state === "output-error" ? errorText : typeof reason === "string" ? reason : DENIED;
  return [
    {
      result: { toolCallId, content: readOutput("text", text), isError: true },
      toolName,
      details: undefined,
    },
  ];
}

/** Splits the parts of an assistant message into its model calls. */
export function splitSteps(parts: readonly object[]): object[][] {
  const steps: object[][] = [[]];
  for (const part of parts) {
    if (fieldsOf(part)["type"] === "step-start") steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

/** Makes two ways to say the same in a part equal. */
export function plainUIPart(part: object): object {
  const { type, ...rest } = withoutFields(part, isToolPart(part) ? [] : ["state", "id"]);
  return { type, ...rest };
}
