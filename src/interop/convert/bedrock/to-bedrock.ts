import { toRecord } from "../../../core/context/entry-fields.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isBlank, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { joinTurns, planRequest, writeTurns } from "../request-plan.ts";
import { normalizeName, ToolIds } from "../tool-ids.ts";
import type { BedrockBlock, BedrockMessage, BedrockRequest } from "./bedrock-content.ts";
import {
  fromWire,
  isBase64,
  isEndingInReasoning,
  readAnswer,
  readResult,
  readUser,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./bedrock-content.ts";

const MAX_ID = 64;

const BEDROCK: Dialect = {
  ...USUAL_DIALECT,
  form: "bedrock",
  apis: new Set(["bedrock-converse-stream"]),
  provider: "amazon-bedrock",
  startsWithUser: true,
  wantsThinkingWhole: true,
  newIds: () => new ToolIds({ maxLength: MAX_ID, fitOwn: normalizeName }),
  isBlank,
  canReplay: (block) => (block.redacted === true ? isBase64(block.thinkingSignature ?? "") : isSigned(block)),
  readUser,
  readAnswer: (raw) => (isEndingInReasoning(raw) ? undefined : readAnswer(raw)),
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
  const getId = (id: string) => ids.of(id);
  const turns = writeTurns<readonly unknown[]>(items, {
    user: ({ raw, content }) => (Array.isArray(raw) ? raw : writeUser(content)),
    answer: ({ raw, content }) =>
      Array.isArray(raw) ? raw : content.map((block) => writeAnswerBlock(block, getId)),
    results: (results) =>
      results.map(({ raw, message }) => ({
        toolResult: raw ?? writeResult(message, getId(message.toolCallId)),
      })),
  });
  const request = joinTurns(turns).map(
    ({ by, content }): BedrockMessage => ({
      role: by === "user" ? "user" : "assistant",
      content: content.map(fromWire).filter(isBlock),
    }),
  );
  return { ...(system !== "" && { system: [{ text: system }] }), messages: request, issues: issues.list() };
}

/** What was written is a block, and what was kept is sent unchanged. */
function isBlock(value: unknown): value is BedrockBlock {
  return Object.keys(toRecord(value)).length > 0;
}
