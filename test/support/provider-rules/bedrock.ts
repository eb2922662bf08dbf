import { fields, list, repeated, text, unicodeFaults } from "./json.ts";

const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const FORMATS = new Set(["png", "jpeg", "gif", "webp"]);

type Fault = (fault: string) => void;
type Block = { readonly [name: string]: unknown };

const getBlocks = (message: unknown): Block[] => list(fields(message)["content"]).map(fields);
const all = (message: unknown, name: string): Block[] =>
  getBlocks(message).flatMap((block) => (block[name] === undefined ? [] : [fields(block[name])]));

/**
 * Returns the errors that the Converse API would return with status 400.
 *
 * @param request - The body as JSON, with bytes in base64.
 * @returns One line for each fault; empty if the request is accepted.
 */
export function checkBedrockRequest(request: unknown): string[] {
  const faults = unicodeFaults(request);
  const fault: Fault = (line) => faults.push(line);
  const messages = list(fields(request)["messages"]);
  checkTexts(list(fields(request)["system"]).map(fields), "system", fault);
  if (fields(messages[0])["role"] !== "user") fault("A conversation must start with a user message.");
  messages.forEach((message, at) => {
    const { role } = fields(message);
    const place = `messages.${at}`;
    if (at > 0 && role === fields(messages[at - 1])["role"])
      fault(`${place}: A conversation must alternate between user and assistant roles.`);
    const blocks = getBlocks(message);
    if (blocks.length === 0) fault(`${place}: The content field is empty.`);
    checkTexts(blocks, place, fault);
    for (const block of blocks) checkBlock(block, text(role), place, fault);
    checkPairs(message, messages[at - 1], messages[at + 1], place, fault);
    if (role === "assistant" && blocks.at(-1)?.["reasoningContent"] !== undefined)
      fault(`${place}: The final block in an assistant message cannot be thinking.`);
  });
  for (const id of repeated(
    messages.flatMap((one) => all(one, "toolUse").map((use) => text(use["toolUseId"]))),
  ))
    fault(`messages: toolUse ids must be unique: ${id}`);
  return faults;
}

function checkTexts(blocks: readonly Block[], place: string, fault: Fault): void {
  for (const block of blocks)
    if (block["text"] !== undefined && text(block["text"]).trim() === "")
      fault(`${place}: The text field is blank.`);
}

function checkBlock(block: Block, role: string, place: string, fault: Fault): void {
  if (Object.keys(block).length !== 1)
    fault(`${place}: A block has one member, not ${Object.keys(block).join()}.`);
  const isOfAssistant = block["toolUse"] !== undefined || block["reasoningContent"] !== undefined;
  if (isOfAssistant && role !== "assistant") fault(`${place}: Only answers have calls and reasoning.`);
  if ((block["toolResult"] ?? block["image"]) !== undefined && role !== "user")
    fault(`${place}: Only user messages have results and images.`);
  if (block["image"] !== undefined) checkImage(fields(block["image"]), place, fault);
  const use = fields(block["toolUse"]);
  if (block["toolUse"] !== undefined) {
    if (!ID.test(text(use["toolUseId"])) || !ID.test(text(use["name"])))
      fault(`${place}: toolUse must match ${ID.source}`);
    if (typeof use["input"] !== "object") fault(`${place}: The input must be an object.`);
  }
  const { reasoningText, redactedContent } = fields(block["reasoningContent"]);
  if (reasoningText !== undefined && text(fields(reasoningText)["signature"]) === "")
    fault(`${place}: Reasoning needs its signature.`);
  if (redactedContent !== undefined && text(redactedContent) === "")
    fault(`${place}: redactedContent is empty.`);
  const content = list(fields(block["toolResult"])["content"]).map(fields);
  checkTexts(content, `${place}.toolResult`, fault);
  for (const { image } of content) if (image !== undefined) checkImage(fields(image), place, fault);
}

function checkImage({ format, source }: Block, place: string, fault: Fault): void {
  if (!FORMATS.has(text(format))) fault(`${place}: An image of format ${String(format)}.`);
  if (text(fields(source)["bytes"]) === "") fault(`${place}: An image without bytes.`);
}

function checkPairs(message: unknown, before: unknown, next: unknown, place: string, fault: Fault): void {
  const getIds = (one: unknown, name: string) => all(one, name).map((block) => text(block["toolUseId"]));
  const results = getIds(message, "toolResult");
  const missing = getIds(message, "toolUse").filter((id) => !getIds(next, "toolResult").includes(id));
  if (missing.length > 0) fault(`${place}: Expected toolResult blocks for ${missing.join(", ")}.`);
  const asked = getIds(before, "toolUse");
  for (const id of results)
    if (!asked.includes(id)) fault(`${place}: The toolResult ${id} exceeds the toolUse blocks.`);
  for (const id of repeated(results)) fault(`${place}: Two results of ${id}.`);
}
