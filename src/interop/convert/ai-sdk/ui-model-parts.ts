import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { AgentMessage, ToolResultMessage } from "../../../core/format/message.ts";
import { isForModel, rawOf, withoutFields } from "../raw-form.ts";
import { callIdOf } from "../tool-ids.ts";
import { storablePart, writeResult } from "./model-parts.ts";
import { isToolPart, splitSteps, toolNameOf } from "./ui-parts.ts";

/**
 * Adds to messages, as parts of model messages, what only their UI messages hold, such as files, provider-executed
 * tools, and state that blocks cannot hold.
 *
 * A UI message is kept with the first of its answers; each of its steps belongs to one answer and its results.
 */
export function withModelParts(messages: readonly AgentMessage[]): AgentMessage[] {
  let steps: object[][] = [];
  let step: object[] = [];
  return messages.map((message) => {
    const { uiMessage, ...others } = fieldsOf(fieldsOf(message)["details"]);
    if (message.role === "toolResult") {
      const modelMessage = resultPart(message, step);
      return modelMessage === undefined ? message : withDetails(message, { ...others, modelMessage });
    }
    const { role } = message;
    if (role !== "user" && role !== "assistant") return message;
    const { parts } = fieldsOf(uiMessage);
    if (role === "user" || uiMessage !== undefined) steps = splitSteps(listOf(parts).map(fieldsOf));
    step = steps.shift() ?? [];
    if (uiMessage === undefined && !isForModel({ parts: step })) return message;
    const modelMessage = { role, content: step.flatMap(modelParts).map(storablePart) };
    return withDetails(message, isForModel({ parts: step }) ? { ...others, modelMessage } : others);
  });
}

function withDetails(message: AgentMessage, details: object): AgentMessage {
  return Object.assign({}, message, { details });
}

/** Returns the part of a result if it says more than the content: a structured output, or state of its call. */
function resultPart(message: ToolResultMessage, step: readonly object[]): object | undefined {
  const toolCallId = callIdOf(String(message.toolCallId));
  const kept = fieldsOf(rawOf(message, "uiMessage"));
  const call = step.map(fieldsOf).find((part) => part["toolCallId"] === toolCallId);
  const state = isForModel({ parts: step }) ? call?.["callProviderMetadata"] : undefined;
  if (!Array.isArray(message.content) || (state === undefined && !("output" in kept))) return undefined;
  return {
    ...writeResult(message, message.toolName, toolCallId),
    ...("output" in kept && { output: jsonOutput(kept["output"]) }),
    ...(state !== undefined && { providerOptions: state }),
  };
}

/** Converts a part of a UI message like the SDK. */
function modelParts(part: object): object[] {
  const { type, url, providerReference, state: _, providerMetadata, ...rest } = withoutFields(part);
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  switch (type) {
    case "text":
    case "reasoning":
    case "custom":
      return [{ type, ...rest, ...options }];
    case "file":
    case "reasoning-file":
      return [{ type, ...rest, data: dataOf(url, providerReference), ...options }];
    default:
      return isToolPart(part) ? toolParts(part) : [];
  }
}

function dataOf(url: unknown, reference: unknown): object {
  return reference === undefined ? { type: "url", url } : { type: "reference", reference };
}

function toolParts(part: object): object[] {
  const { toolCallId, input, rawInput, state, output, errorText, ...rest } = withoutFields(part);
  const { callProviderMetadata, resultProviderMetadata, providerExecuted } = rest;
  const tool = { toolCallId, toolName: toolNameOf(part) };
  const call = {
    type: "tool-call",
    ...tool,
    input: input ?? rawInput,
    ...(providerExecuted === true && { providerExecuted }),
    ...(callProviderMetadata !== undefined && { providerOptions: callProviderMetadata }),
  };
  const isDone = state === "output-available" || state === "output-error";
  if (providerExecuted !== true || !isDone) return [call];
  const providerOptions = resultProviderMetadata ?? callProviderMetadata;
  return [
    call,
    {
      type: "tool-result",
      ...tool,
      output: state === "output-error" ? { type: "error-json", value: errorText } : jsonOutput(output),
      ...(providerOptions !== undefined && { providerOptions }),
    },
  ];
}

function jsonOutput(output: unknown): object {
  return { type: typeof output === "string" ? "text" : "json", value: output ?? null };
}
