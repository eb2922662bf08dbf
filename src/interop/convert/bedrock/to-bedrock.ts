import { toRecord } from "../../../core/context/entry-fields.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isBlank, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { joinTurns, type RequestPlan, writeTurns } from "../request-plan.ts";
import { planRequest } from "../session/plan-source.ts";
import { rememberSources, type WrittenMessage } from "../session/request-digest.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { normalizeName, ToolIds } from "../tool-ids.ts";
import {
  type BedrockBlock,
  type BedrockMessage,
  type BedrockRequest,
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
 * Converts a session, or the messages of a context, to a request for Bedrock's Converse API.
 *
 * Joins consecutive messages with the same role, because roles must alternate; results come first. Reasoning from the requested
 * model is sent back unchanged, in its original position; reasoning from other models is dropped. For a session, also drops
 * reasoning that `toAnthropic` would drop.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `system` and `messages` for `ConverseCommand`, and issues.
 * @throws {SessionError} `ENTRY_NOT_FOUND` for an unknown `leafId`.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#bedrock
 */
export function toBedrock(source: RequestSource, options: RequestOptions = {}): BedrockRequest {
  const plan = planRequest(source, BEDROCK, options, { write });
  const { system, issues } = plan;
  const written = write(plan);
  const messages = written.map(
    ({ role, content }): BedrockMessage => ({
      role: role === "user" ? "user" : "assistant",
      content: content.map(fromWire).filter(isBlock),
    }),
  );
  rememberSources(written, messages, plan.sourceAt);
  return { ...(system !== "" && { system: [{ text: system }] }), messages, issues: issues.list() };
}

/** Writes messages in the wire form, where bytes are base64. */
function write({ items, ids }: RequestPlan): (WrittenMessage & { readonly content: readonly unknown[] })[] {
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
  return joinTurns(turns).map(({ by, ...turn }) => ({ ...turn, role: by === "user" ? "user" : "assistant" }));
}

/** Returns whether a value is a block. Written blocks are always valid, and stored blocks are sent unchanged. */
function isBlock(value: unknown): value is BedrockBlock {
  return Object.keys(toRecord(value)).length > 0;
}
