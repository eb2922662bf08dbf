import { fieldsOf } from "../../context/entry-fields.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { isForModel, withoutFields } from "../raw-form.ts";
import { callIdOf } from "../tool-ids.ts";
import { isToolPart, splitSteps, toolNameOf } from "./ui-parts.ts";

/**
 * Adds to messages, as parts of model messages, what only their UI messages hold, such as files and provider-executed
 * tools.
 *
 * A UI message is kept with the first of its answers; each of its steps belongs to one answer.
 */
export function withModelParts(messages: readonly AgentMessage[]): AgentMessage[] {
  let steps: object[][] = [];
  return messages.map((message) => {
    const { role, details, toolCallId, toolName } = fieldsOf(message);
    const { uiMessage, ...others } = fieldsOf(details);
    if (role === "toolResult" && "output" in fieldsOf(uiMessage)) {
      const output = jsonOutput(fieldsOf(uiMessage)["output"]);
      const modelMessage = {
        type: "tool-result",
        toolCallId: callIdOf(String(toolCallId)),
        toolName,
        output,
      };
      return Object.assign({}, message, { details: { ...others, modelMessage } });
    }
    if (role !== "user" && role !== "assistant") return message;
    const { parts } = fieldsOf(uiMessage);
    if (role === "user" || uiMessage !== undefined) steps = Array.isArray(parts) ? splitSteps(parts) : [];
    const step = steps.shift() ?? [];
    if (uiMessage === undefined && !isForModel({ parts: step })) return message;
    const modelMessage = { role, content: step.flatMap(modelParts) };
    const kept = isForModel({ parts: step }) ? { ...others, modelMessage } : others;
    return Object.assign({}, message, { details: kept });
  });
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
