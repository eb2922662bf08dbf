import { fields, list, text, unicodeFaults } from "./json.ts";

type Fault = (fault: string) => void;

const TOP_LEVEL = new Set([
  ...["messages", "model", "tools", "tool_choice", "stream", "stream_options", "store", "metadata"],
  ...["temperature", "top_p", "stop", "reasoning_effort", "max_completion_tokens", "parallel_tool_calls"],
]);
const ROLES = new Set(["system", "developer", "user", "assistant", "tool"]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_ID = 40;

/**
 * Returns the errors that the Chat Completions API would return with status 400.
 *
 * @param request - The body, or its `{ messages }`.
 * @returns One line for each fault, in the provider's words; empty if the request is accepted.
 */
export function checkOpenAIChatRequest(request: unknown): string[] {
  const faults = unicodeFaults(request);
  const fault: Fault = (line) => faults.push(line);
  for (const key of Object.keys(fields(request))) {
    if (!TOP_LEVEL.has(key)) fault(`Unrecognized request argument supplied: ${key}`);
  }
  const messages = list(fields(request)["messages"]);
  if (messages.length === 0) fault("[] is too short - 'messages'");
  messages.forEach((message, at) => {
    checkMessage(fields(message), `messages[${at}]`, fault);
  });
  checkPairs(messages, fault);
  return faults;
}

function checkMessage(message: { readonly [name: string]: unknown }, place: string, fault: Fault): void {
  const { role, content, tool_calls } = message;
  if (!ROLES.has(text(role))) fault(`Invalid value: '${String(role)}' for '${place}.role'.`);
  const isSpoken = role === "assistant" && (message["refusal"] ?? message["audio"]) !== undefined;
  const isContent = typeof content === "string" || (Array.isArray(content) && content.length > 0) || isSpoken;
  if (role === "assistant" && tool_calls !== undefined) {
    if (list(tool_calls).length === 0) fault(`[] is too short - '${place}.tool_calls'`);
  } else if (!isContent) {
    fault(
      `Invalid value for '${place}.content': expected a string, got ${JSON.stringify(content) ?? "nothing"}.`,
    );
  }
  const allowed =
    role === "user"
      ? ["text", "image_url", "input_audio", "file"]
      : role === "assistant"
        ? ["text", "refusal"]
        : ["text"];
  for (const part of list(content)) checkPart(fields(part), allowed, place, fault);
  list(tool_calls).forEach((call, at) => {
    checkCall(fields(call), `${place}.tool_calls[${at}]`, fault);
  });
}

function checkPart(
  part: { readonly [name: string]: unknown },
  allowed: string[],
  place: string,
  fault: Fault,
): void {
  if (!allowed.includes(text(part["type"]))) {
    fault(
      `Invalid value: '${String(part["type"])}' in ${place}. Supported values are: '${allowed.join("', '")}'.`,
    );
  }
  const { url } = fields(part["image_url"]);
  if (part["type"] === "image_url" && !/^(?:https?:\/\/.|data:image\/[a-z+.-]+;base64,.)/.test(text(url))) {
    fault(`Invalid '${place}.image_url': expected an address or a base64-encoded data URL.`);
  }
}

function checkCall(call: { readonly [name: string]: unknown }, place: string, fault: Fault): void {
  const id = text(call["id"]);
  if (id === "") fault(`Invalid '${place}.id': empty string.`);
  if (id.length > MAX_ID) {
    fault(
      `Invalid '${place}.id': string too long. Expected a string with maximum length ${MAX_ID}, but got a string with length ${id.length} instead.`,
    );
  }
  if (call["type"] === "custom") return;
  const { name, arguments: given } = fields(call["function"]);
  if (call["type"] !== "function") fault(`Missing required parameter: '${place}.type'.`);
  if (!NAME.test(text(name)))
    fault(
      `Invalid '${place}.function.name': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`,
    );
  if (typeof given !== "string") fault(`Invalid type for '${place}.function.arguments': expected a string.`);
}

function checkPairs(messages: readonly unknown[], fault: Fault): void {
  let waiting: string[] = [];
  const close = () => {
    if (waiting.length === 0) return;
    fault(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        `The following tool_call_ids did not have response messages: ${waiting.join(", ")}`,
    );
  };
  for (const message of messages) {
    const { role, tool_calls, tool_call_id } = fields(message);
    if (role === "tool") {
      if (!waiting.includes(text(tool_call_id))) {
        fault(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        );
      }
      waiting = waiting.filter((id) => id !== tool_call_id);
      continue;
    }
    close();
    waiting = list(tool_calls).map((call) => text(fields(call)["id"]));
  }
  close();
}
