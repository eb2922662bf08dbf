import { converterFor, foreignFieldOf, isForeignBlockType, isForeignRole } from "./foreign-message.ts";
import { isJsonRecord, type JsonRecord } from "./json.ts";
import { kindOf } from "./kind-of.ts";

/** The roles whose messages are stored; others are a host's, or another SDK's. */
const OWN_ROLES: ReadonlySet<unknown> = new Set([
  "system",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
]);

const NO_PROBLEMS: readonly string[] = Object.freeze([]);

/**
 * Says why a value is no message of this format: what readers would not find in it, or would fail on.
 *
 * Checks much less than `validateEntry`: fields may be missing as long as there is content, fields and blocks of
 * unknown types are kept, and messages with a host's own role are not checked.
 *
 * @param message - A value with a role, one of those that are stored.
 * @returns Lines of a place, a colon and what is wrong there; empty if it is a message.
 * @remarks Cost: O(content blocks); nothing is allocated for a message that is in order.
 */
export function messageProblems(message: JsonRecord): readonly string[] {
  const { role } = message;
  const isForeign = isForeignRole(role);
  if (!isForeign && !OWN_ROLES.has(role)) return NO_PROBLEMS;
  const field = foreignFieldOf(message);
  const content = isForeign ? undefined : contentProblem(message);
  if (!isForeign && field === undefined && content === undefined) return NO_PROBLEMS;
  const problems: string[] = [];
  if (isForeign) problems.push(`role: ${JSON.stringify(role)} is another SDK's`);
  if (field !== undefined) problems.push(`${field}: no field of this format`);
  if (content !== undefined) problems.push(content);
  return problems;
}

/** Says the same of a stored message, but only if it is an SDK's: readers tolerate everything else. */
export function storedMessageProblems(message: JsonRecord): readonly string[] {
  return converterFor(message) === undefined ? NO_PROBLEMS : messageProblems(message);
}

function contentProblem(message: JsonRecord): string | undefined {
  const { role, content } = message;
  switch (role) {
    case "user":
    case "system":
    case "custom":
      if (typeof content === "string") return undefined;
      return Array.isArray(content)
        ? blocksProblem(content)
        : wrong("content", "a string or blocks", content);
    case "assistant":
      return Array.isArray(content)
        ? blocksProblem(content)
        : wrong("content", "an array of blocks", content);
    case "toolResult":
      return resultProblem(message);
    case "bashExecution":
      return stringProblem("command", message["command"]);
    default:
      return undefined;
  }
}

function resultProblem({ toolCallId, content }: JsonRecord): string | undefined {
  const problem = stringProblem("toolCallId", toolCallId);
  // Tools of extensions may return nothing at all, and hosts append the result as it is.
  if (problem !== undefined || content === undefined) return problem;
  return Array.isArray(content) ? blocksProblem(content) : wrong("content", "an array of blocks", content);
}

function blocksProblem(blocks: readonly unknown[]): string | undefined {
  for (let i = 0; i < blocks.length; i++) {
    const problem = blockProblem(blocks[i]);
    if (problem !== undefined) return `content[${i}]${problem}`;
  }
  return undefined;
}

/** What is wrong with a block, after its place; undefined if nothing is, or its type is unknown. */
function blockProblem(block: unknown): string | undefined {
  if (!isJsonRecord(block)) return wrong("", "a block", block);
  const { type } = block;
  switch (type) {
    case "text":
      return stringProblem(".text", block["text"]);
    case "thinking":
      if (block["signature"] !== undefined) return ".signature: no field of this format";
      return stringProblem(".thinking", block["thinking"]);
    case "toolCall":
      return typeof block["arguments"] === "string"
        ? wrong(".arguments", "an object", block["arguments"])
        : undefined;
    case "image":
      return stringProblem(".data", block["data"]);
    default:
      if (typeof type !== "string") return wrong(".type", "a string", type);
      return isForeignBlockType(type) ? `.type: ${JSON.stringify(type)} is another SDK's` : undefined;
  }
}

function stringProblem(place: string, value: unknown): string | undefined {
  return typeof value === "string" ? undefined : wrong(place, "a string", value);
}

function wrong(place: string, expected: string, found: unknown): string {
  return found === undefined
    ? `${place}: missing, expected ${expected}`
    : `${place}: expected ${expected}, found ${kindOf(found)}`;
}
