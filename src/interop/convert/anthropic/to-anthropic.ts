import type { ConversionIssues } from "../conversion-issue.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isBlank, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { endsIn } from "../raw-form.ts";
import { type PlannedResult, type RequestPlan, writeTurns } from "../request-plan.ts";
import { planRequest } from "../session/plan-source.ts";
import { rememberSources, type WrittenMessage } from "../session/request-digest.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { plainName, ToolIds } from "../tool-ids.ts";
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
  fitName: (name) => plainName(name, MAX_NAME),
  wantsThinkingWhole: true,
  newIds: () => new ToolIds({ maxLength: MAX_ID, fitOwn: plainName }),
  isBlank,
  canReplay: isSigned,
  readUser,
  // The API refuses an answer that ends in thinking.
  readAnswer: (raw) => (endsIn(raw, "thinking", "redacted_thinking") ? undefined : readAnswer(raw)),
  readResult,
};

/**
 * Converts a session, or the messages of a context, to a request of Anthropic's Messages API.
 *
 * Puts the results of an answer into one message directly behind it. Thinking of the model you ask goes back unchanged and
 * in place; thinking of other models is dropped. Of a session, thinking is dropped as well that the model would refuse since
 * something before it has changed: Claude 5.1 and later bind it to that.
 *
 * @param source - A session, or messages such as `buildSessionContext().messages`; not changed.
 * @returns `system` and `messages` for `messages.create`, and the issues.
 * @throws {SessionError} `ENTRY_NOT_FOUND` for an unknown `leafId`.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#anthropic
 */
export function toAnthropic(source: RequestSource, options: RequestOptions = {}): AnthropicRequest {
  const plan = planRequest(source, ANTHROPIC, options, { write });
  const { system, issues } = plan;
  const written = write(plan);
  const messages = written.map(({ role, content }): AnthropicMessage => ({ role, content }));
  rememberSources(written, messages, plan.sourceAt);
  return { ...(system !== "" && { system }), messages, issues: issues.list() };
}

/** A message, and where it is from. */
type Written = AnthropicMessage & WrittenMessage;

function write({ items, ids, issues }: RequestPlan): Written[] {
  const turns = writeTurns<AnthropicMessage["content"]>(items, {
    user: ({ raw, content }) => (isBlocks(raw) ? raw : writeUser(content)),
    answer: ({ raw, content }) =>
      isBlocks(raw) ? raw : content.map((block) => writeAnswerBlock(block, (id) => ids.of(id))),
    results: (results) => results.map((result) => resultBlock(result, ids, issues)),
  });
  const request = turns.map(
    ({ by, content, index }): Written => ({ role: by === "user" ? "user" : "assistant", content, index }),
  );
  trimEnd(request.at(-1));
  return request;
}

function resultBlock(
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
