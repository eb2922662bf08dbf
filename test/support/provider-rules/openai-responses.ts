import { fields, list, repeated, text, unicodeFaults } from "./json.ts";

/** Server state that is not in the request. */
export interface ResponsesKnowledge {
  /** Outputs of the responses that it returned in this conversation. */
  readonly issued?: readonly (readonly unknown[])[];
}

type Item = { readonly [name: string]: unknown };
type Fault = (fault: string) => void;

const TOP_LEVEL = new Set([
  ...[
    "input",
    "instructions",
    "model",
    "store",
    "include",
    "tools",
    "tool_choice",
    "reasoning",
    "stream",
    "text",
  ],
  ...[
    "previous_response_id",
    "max_output_tokens",
    "parallel_tool_calls",
    "metadata",
    "temperature",
    "truncation",
  ],
]);
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};
const FUNCTIONS = new Set(["function_call", "custom_tool_call"]);
const FUNCTION_OUTPUTS = new Set(["function_call_output", "custom_tool_call_output"]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_ID = 64;

/**
 * Returns the errors that the Responses API would return with status 400 or 404.
 *
 * @param request - The body, or its `{ instructions, input, store }`.
 * @returns One line for each fault, in the provider's words; empty if the request is accepted.
 */
export function checkOpenAIResponsesRequest(request: unknown, knowledge: ResponsesKnowledge = {}): string[] {
  const faults = unicodeFaults(request);
  const fault: Fault = (line) => faults.push(line);
  const { input, store, previous_response_id } = fields(request);
  for (const key of Object.keys(fields(request))) {
    if (!TOP_LEVEL.has(key)) fault(`Unknown parameter: '${key}'.`);
  }
  if (typeof input === "string" && input !== "") return faults;
  const items = list(input).map(fields);
  if (items.length === 0) fault("Missing required parameter: 'input'.");
  items.forEach((item, at) => {
    checkItem(item, `input[${at}]`, fault);
    if (store === false) checkStored(item, fault);
  });
  for (const id of repeated(items.map(({ id }) => text(id)).filter((id) => id !== ""))) {
    fault(`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`);
  }
  // With a continued response, calls are in that response, and their outputs here.
  if (previous_response_id === undefined) checkPairs(items, fault);
  checkReasoning(items, knowledge, fault);
  return faults;
}

/** Returns the kind of an item; messages may be written without one. */
function getType(item: Item): string {
  return text(item["type"] ?? (item["role"] === undefined ? "" : "message"));
}

function checkItem(item: Item, place: string, fault: Fault): void {
  const type = getType(item);
  const { id, call_id, name } = item;
  if (type === "") fault(`Missing required parameter: '${place}.type'.`);
  for (const [key, value] of Object.entries({ id, call_id })) {
    if (text(value).length > MAX_ID) {
      fault(
        `Invalid '${place}.${key}': string too long. Expected a string with maximum length ${MAX_ID}, but got a string with length ${text(value).length} instead.`,
      );
    }
  }
  const prefix = PREFIXES[type];
  if (typeof id === "string" && prefix !== undefined && !id.startsWith(prefix)) {
    fault(`Invalid '${place}.id': '${id}'. Expected an ID that begins with '${prefix}'.`);
  }
  if ((FUNCTIONS.has(type) || FUNCTION_OUTPUTS.has(type)) && text(call_id) === "")
    fault(`Invalid '${place}.call_id': empty string.`);
  if (FUNCTIONS.has(type) && !NAME.test(text(name)))
    fault(`Invalid '${place}.name': string does not match pattern.`);
  if (type === "function_call" && typeof item["arguments"] !== "string")
    fault(`Invalid type for '${place}.arguments'.`);
  if (type === "message") checkMessage(item, place, fault);
  if (FUNCTION_OUTPUTS.has(type) && typeof item["output"] !== "string")
    checkParts(item["output"], INPUT_PARTS, `${place}.output`, fault);
}

const INPUT_PARTS = ["input_text", "input_image", "input_file"];
const OUTPUT_PARTS = ["output_text", "refusal"];

function checkMessage(item: Item, place: string, fault: Fault): void {
  const { role, content, id, status } = item;
  if (!["user", "assistant", "system", "developer"].includes(text(role)))
    fault(`Invalid value: '${String(role)}'.`);
  // An item without a type may be an easy message, as version 5 of the AI SDK sends it.
  if (item["type"] === "message" && typeof id === "string" && typeof status !== "string")
    fault(`Missing required parameter: '${place}.status'.`);
  if (typeof content === "string") return;
  checkParts(content, role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS, `${place}.content`, fault);
}

function checkParts(parts: unknown, allowed: readonly string[], place: string, fault: Fault): void {
  if (list(parts).length === 0) fault(`Invalid type for '${place}': expected a string or a list of content.`);
  list(parts).forEach((part, at) => {
    const { type, image_url, file_id } = fields(part);
    if (!allowed.includes(text(type))) {
      fault(`Invalid value: '${String(type)}'. Supported values are: '${allowed.join("', '")}'.`);
    }
    if (type !== "input_image" || text(file_id) !== "") return;
    if (!/^(?:https?:\/\/.|data:image\/[a-z+.-]+;base64,.)/.test(text(image_url))) {
      fault(`Invalid '${place}[${at}].image_url'. Expected a base64-encoded data URL or an address.`);
    }
  });
}

/** Returns whether an item calls a tool of the host, of any kind; what the provider runs has no `call_id`. */
function isCall(item: Item): boolean {
  return getType(item).endsWith("_call") && text(item["call_id"]) !== "";
}

/** Returns whether an item is the host's output for a tool. */
function isOutput(item: Item): boolean {
  return getType(item).endsWith("_call_output");
}

function checkStored(item: Item, fault: Fault): void {
  const isKnown = getType(item) !== "item_reference";
  if (isKnown && (getType(item) !== "reasoning" || text(item["encrypted_content"]) !== "")) return;
  fault(
    `Item with id '${text(item["id"])}' not found. Items are not persisted when \`store\` is set to false. ` +
      "Try again with `store` set to true, or remove this item from your input.",
  );
}

function checkPairs(items: readonly Item[], fault: Fault): void {
  const waiting = new Map<string, number>();
  for (const item of items) {
    // An output belongs to a call of the same kind.
    const callId = `${getType(item).replace("_output", "")} ${text(item["call_id"])}`;
    if (isCall(item)) waiting.set(callId, (waiting.get(callId) ?? 0) + 1);
    if (!isOutput(item)) continue;
    const open = waiting.get(callId) ?? 0;
    if (open === 0)
      fault(`No tool call found for function call output with call_id ${text(item["call_id"])}.`);
    waiting.set(callId, open - 1);
  }
  for (const [callId, open] of waiting)
    if (open > 0) fault(`No tool output found for function call ${callId.split(" ")[1]}.`);
}

function checkReasoning(items: readonly Item[], { issued = [] }: ResponsesKnowledge, fault: Fault): void {
  items.forEach((item, at) => {
    const next = items[at + 1];
    const isFollowed = next !== undefined && !isOutput(next) && next["role"] !== "user";
    if (getType(item) === "reasoning" && !isFollowed) {
      fault(
        `Item '${text(item["id"])}' of type 'reasoning' was provided without its required following item.`,
      );
    }
    const wanted = requiredReasoning(item, issued);
    const before = items.slice(0, at).findLast((one) => getType(one) === "reasoning");
    if (wanted !== undefined && before?.["id"] !== wanted) {
      fault(
        `Item '${text(item["id"])}' of type '${getType(item)}' was provided without its required 'reasoning' item: '${wanted}'.`,
      );
    }
  });
}

/** Returns the id of the reasoning that produced an item, if the server remembers one. */
function requiredReasoning(item: Item, issued: readonly (readonly unknown[])[]): string | undefined {
  if (typeof item["id"] !== "string" || getType(item) === "reasoning") return undefined;
  for (const output of issued) {
    const at = output.findIndex((one) => fields(one)["id"] === item["id"]);
    const before = output.slice(0, Math.max(at, 0)).map(fields);
    const reasoning = before.findLast((one) => getType(one) === "reasoning");
    if (reasoning !== undefined) return text(reasoning["id"]);
  }
  return undefined;
}
