import type { AgentMessage } from "../../../core/format/message.ts";
import type { ConversionIssues } from "../conversion-issue.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isBlank, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { endsWithType } from "../raw-form.ts";
import { type PlannedResult, planRequest, writeTurns } from "../request-plan.ts";
import { normalizeName, ToolIds } from "../tool-ids.ts";
import type { AnthropicMessage, AnthropicRequest, AnthropicToolResult } from "./anthropic-content.ts";
import {
  isBlocks,
  readAnswer,
  readResult,
  readUser,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./anthropic-content.ts";

const MAX_ID = 64;
const MAX_NAME = 128;

/** Said where a failed call has no words, since the API wants some. */
const NO_WORDS = "(no output)";

const ANTHROPIC: Dialect = {
  ...USUAL_DIALECT,
  form: "anthropic",
  apis: new Set(["anthropic-messages"]),
  provider: "anthropic",
  startsWithUser: true,
  takesImages: ({ isError }) => !isError,
  fitName: (name) => normalizeName(name, MAX_NAME),
  wantsThinkingWhole: true,
  newIds: () => new ToolIds({ maxLength: MAX_ID, fitOwn: normalizeName }),
  isBlank,
  canReplay: isSigned,
  readUser,
  // The API refuses an answer that ends in thinking.
  readAnswer: (raw) => (endsWithType(raw, "thinking", "redacted_thinking") ? undefined : readAnswer(raw)),
  readResult,
};

/**
 * Converts the messages of a context to a request of Anthropic's Messages API.
 *
 * Puts the results of an answer into one message directly behind it. Thinking of the model you ask goes back unchanged and
 * in place; thinking of other models is dropped.
 *
 * @param messages - Of a context, such as `buildSessionContext().messages`; not changed.
 * @returns `system` and `messages` for `messages.create`, and the issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#anthropic
 */
export function toAnthropic(
  messages: readonly AgentMessage[],
  options: RequestOptions = {},
): AnthropicRequest {
  const { system, items, ids, issues } = planRequest(messages, ANTHROPIC, options);
  const turns = writeTurns<AnthropicMessage["content"]>(items, {
    user: ({ raw, content }) => (isBlocks(raw) ? raw : writeUser(content)),
    answer: ({ raw, content }) =>
      isBlocks(raw) ? raw : content.map((block) => writeAnswerBlock(block, (id) => ids.of(id))),
    results: (results) => results.map((result) => makeResultBlock(result, ids, issues)),
  });
  const request = turns.map(
    ({ by, content }): AnthropicMessage => ({ role: by === "user" ? "user" : "assistant", content }),
  );
  trimEnd(request.at(-1));
  return { ...(system !== "" && { system }), messages: request, issues: issues.list() };
}

function makeResultBlock(
  { message, raw, index }: PlannedResult,
  ids: ToolIds,
  issues: ConversionIssues,
): AnthropicToolResult {
  const result = isResult(raw) ? raw : writeResult(message, ids.of(message.toolCallId));
  if (result.is_error !== true || result.content !== undefined) return result;
  issues.report("CONTENT_ADDED", index, "Added a text to the empty result of a failed call.");
  return { ...result, content: [{ type: "text", text: NO_WORDS }] };
}

function isResult(raw: unknown): raw is AnthropicToolResult {
  return readResult(raw) !== undefined;
}

/** Takes the white space off the end of a request that ends in an answer: the API refuses to go on from there. */
function trimEnd(message: AnthropicMessage | undefined): void {
  if (message?.role !== "assistant" || typeof message.content === "string") return;
  const last = message.content.at(-1);
  if (last?.type !== "text") return;
  message.content = [...message.content.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}
