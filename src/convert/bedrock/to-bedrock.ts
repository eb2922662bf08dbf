import { fieldsOf } from "../../context/entry-fields.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, USUAL_DIALECT } from "../dialect.ts";
import { type PlannedItem, planRequest } from "../request-plan.ts";
import { plainName, ToolIds } from "../tool-ids.ts";
import {
  endsInReasoning,
  fromWire,
  isBase64,
  readAnswer,
  readResult,
  readUser,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./bedrock-content.ts";
import type { BedrockBlock, BedrockMessage, BedrockRequest } from "./bedrock-types.ts";

const MAX_NAME = 64;

const BEDROCK: Dialect = {
  ...USUAL_DIALECT,
  form: "bedrock",
  apis: new Set(["bedrock-converse-stream"]),
  provider: "amazon-bedrock",
  startsWithUser: true,
  fitName: (name) => plainName(name, MAX_NAME),
  wantsThinkingWhole: true,
  newIds: () => new ToolIds({ maxLength: MAX_NAME, fitOwn: plainName }),
  isBlank: (text) => text.trim() === "",
  canReplay: ({ thinkingSignature = "", redacted }) =>
    redacted === true ? isBase64(thinkingSignature) : thinkingSignature !== "",
  readUser,
  readAnswer: (raw) => (endsInReasoning(raw) ? undefined : readAnswer(raw)),
  readResult,
};

/**
 * Converts the messages of a context to a request of Bedrock's Converse API.
 *
 * Joins messages of one role, since roles alternate there; results come first. Reasoning of the model you ask goes back
 * unchanged and in place; that of other models is dropped.
 *
 * @param messages - Of a context, such as `buildSessionContext().messages`; not changed.
 * @returns `system` and `messages` for `ConverseCommand`, and the issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#bedrock
 */
export function toBedrock(messages: readonly AgentMessage[], options: RequestOptions = {}): BedrockRequest {
  const { system, items, ids, issues } = planRequest(messages, BEDROCK, options);
  const request: BedrockMessage[] = [];
  for (const { role, content } of items.flatMap((item) => writeItem(item, (id) => ids.of(id)))) {
    const blocks = content.map(fromWire).filter(isBlock);
    const last = request.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else request.push({ role, content: blocks });
  }
  return { ...(system !== "" && { system: [{ text: system }] }), messages: request, issues: issues.list() };
}

interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly unknown[];
}

function writeItem(item: PlannedItem, idOf: (id: string) => string): WireMessage[] {
  if (item.kind === "system") return [];
  const { raw } = item;
  if (item.kind === "user")
    return [{ role: "user", content: Array.isArray(raw) ? raw : writeUser(item.content) }];
  const content = Array.isArray(raw) ? raw : item.content.map((block) => writeAnswerBlock(block, idOf));
  const results = item.results.map(({ message, raw: kept }) => ({
    toolResult: kept ?? writeResult(message, idOf(message.toolCallId)),
  }));
  const answer: WireMessage = { role: "assistant", content };
  return results.length === 0 ? [answer] : [answer, { role: "user", content: results }];
}

/** What was written is a block, and what was kept is sent unchanged. */
function isBlock(value: unknown): value is BedrockBlock {
  return Object.keys(fieldsOf(value)).length > 0;
}
