import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { toSafeString } from "../../../core/format/json.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { ConversionIssues } from "../conversion-issue.ts";
import { type Dialect, isBlank, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { endsWithType } from "../raw-form.ts";
import {
  type PlannedItem,
  type PlannedResult,
  type PlannedSystem,
  type RequestPlan,
  writeTurns,
} from "../request-plan.ts";
import { bindsThinking } from "../session/claude-model.ts";
import { planRequest } from "../session/plan-source.ts";
import { rememberSources } from "../session/request-digest.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { normalizeName, ToolIds } from "../tool-ids.ts";
import {
  type AnthropicMessage,
  type AnthropicOptions,
  type AnthropicRequest,
  type AnthropicSystemMessage,
  type AnthropicToolResult,
  isBlocks,
  readAnswer,
  readResult,
  readUser,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./anthropic-content.ts";

/** Names of beta features. */
const BINDING_BETA = "thinking-binding-controls-2026-08-01";
const INLINE_TOOLS_BETA = "inline-tools-2026-09-15";

const MAX_ID = 64;
const MAX_NAME = 128;

/** Text for a failed call without output, because the API requires text. */
export const NO_WORDS = "(no output)";

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
  // The API rejects an answer that ends in thinking.
  readAnswer: (raw) => (endsWithType(raw, "thinking", "redacted_thinking") ? undefined : readAnswer(raw)),
  readResult,
};

/**
 * Converts a session, or the messages of a context, to a request for Anthropic's Messages API.
 *
 * Writes the results of an answer to one message directly after it. Thinking from the requested model is sent back unchanged, in
 * its original position; thinking from other models is dropped. For a session, thinking is also dropped if the model would reject
 * it because the preceding content has changed: Claude 5.1 and later bind thinking to that content.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `system` and `messages` for `messages.create`, and issues.
 * @throws {SessionError} `ENTRY_NOT_FOUND` for an unknown `leafId`.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#anthropic
 */
export function toAnthropic(
  source: RequestSource,
  options: AnthropicOptions & { readonly systemMessages: "inline" },
): Omit<AnthropicRequest, "messages"> & { messages: (AnthropicMessage | AnthropicSystemMessage)[] };
export function toAnthropic(source: RequestSource, options?: AnthropicOptions): AnthropicRequest;
export function toAnthropic(source: RequestSource, options: AnthropicOptions = {}) {
  const { plan, written } = planAnthropic(source, options);
  const { system, issues, target } = plan;
  const messages = written.map(({ index: _, ...message }) => message);
  rememberSources(written, messages, plan.sourceAt);
  const behavior = bindsThinking(target?.model) ? options.blockBinding : undefined;
  const betas = [
    ...(behavior === undefined ? [] : [BINDING_BETA]),
    ...(messages.some(definesTool) ? [INLINE_TOOLS_BETA] : []),
  ];
  return {
    ...(system !== "" && { system }),
    messages,
    ...(behavior !== undefined && {
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: behavior } },
    }),
    ...(betas.length > 0 && { betas }),
    issues: issues.list(),
  };
}

/** Plans a request and writes its messages. */
export function planAnthropic(source: RequestSource, options: AnthropicOptions) {
  assertOptions<object>(options, {});
  const { dialect, write } = options.systemMessages === "inline" ? INLINE : FRONT;
  const plan = planRequest(source, dialect, options, { write });
  return { plan, written: write(plan) };
}

/** Message with the index of its source. */
type Written = AnthropicMessage & { readonly index: number };

type WrittenSystem = AnthropicSystemMessage & { readonly index: number };

const FRONT = { dialect: ANTHROPIC, write: writeFront };

const INLINE = {
  dialect: { ...ANTHROPIC, systemInFront: "unanswered" as const },
  write: writeInline,
};

function writeItems({ ids, issues }: RequestPlan, items: readonly PlannedItem[]): Written[] {
  const turns = writeTurns<AnthropicMessage["content"]>(items, {
    user: ({ raw, content }) => (isBlocks(raw) ? raw : writeUser(content)),
    answer: ({ raw, content }) =>
      isBlocks(raw) ? raw : content.map((block) => writeAnswerBlock(block, (id) => ids.of(id))),
    results: (results) => results.map((result) => makeResultBlock(result, ids, issues)),
  });
  return turns.map(({ by, content, index }) => ({
    role: by === "user" ? "user" : "assistant",
    content,
    index,
  }));
}

function writeFront(plan: RequestPlan): Written[] {
  const request = writeItems(plan, plan.items);
  trimEnd(request.at(-1));
  return request;
}

/** Writes later system messages inline, after the user's next turn, because they cannot directly follow an answer. */
function writeInline(plan: RequestPlan): (Written | WrittenSystem)[] {
  const written: (Written | WrittenSystem)[] = [];
  let pending: PlannedSystem[] = [];
  const flush = () => {
    const [first] = pending;
    if (first === undefined || written.at(-1)?.role !== "user") return;
    written.push({ role: "system", content: pending.flatMap(systemBlocks), index: first.index });
    pending = [];
  };
  const segments = plan.items.map((item) => (item.kind === "system" ? item : writeItems(plan, [item])));
  for (const segment of segments) {
    if (!Array.isArray(segment)) {
      pending.push(segment);
      continue;
    }
    if (segment[0]?.role === "assistant") flush();
    written.push(...segment);
  }
  flush();
  trimEnd(written.at(-1));
  for (const { index } of pending)
    plan.issues.report("CONTENT_MOVED", index, "Moved a system message after the next user message.");
  return written;
}

function systemBlocks({ text, message }: PlannedSystem): AnthropicSystemMessage["content"] {
  const { toolsAdded, toolsRemoved } = message;
  const removed = toArray(toolsRemoved).map((tool) => toRecord(tool)["name"] ?? tool);
  return [
    ...(isBlank(text) ? [] : [{ type: "text" as const, text }]),
    ...removed.map((name) => ({
      type: "tool_removal" as const,
      tool: { type: "tool_reference" as const, name: toSafeString(name) },
    })),
    ...(toolsAdded ?? []).map(({ name, description, parameters }) => ({
      type: "tool_addition" as const,
      tool: {
        type: "tool_definition" as const,
        definition: { name, description, input_schema: { ...parameters, type: "object" as const } },
      },
    })),
  ];
}

function definesTool({ role, content }: AnthropicMessage | AnthropicSystemMessage): boolean {
  return role === "system" && content.some(({ type }) => type === "tool_addition");
}

function makeResultBlock(
  { message, raw, index }: PlannedResult,
  ids: ToolIds,
  issues: ConversionIssues,
): AnthropicToolResult {
  const result = isResult(raw) ? raw : writeResult(message, ids.of(message.toolCallId));
  if (result.is_error !== true || result.content !== undefined) return result;
  issues.report("CONTENT_ADDED", index, "Added text to the empty result of a failed call.");
  return { ...result, content: [{ type: "text", text: NO_WORDS }] };
}

function isResult(raw: unknown): raw is AnthropicToolResult {
  return readResult(raw) !== undefined;
}

/** Removes trailing white space from a request that ends in an answer, because the API does not continue after it. */
function trimEnd(message: AnthropicMessage | AnthropicSystemMessage | undefined): void {
  if (message?.role !== "assistant" || typeof message.content === "string") return;
  const last = message.content.at(-1);
  if (last?.type !== "text") return;
  message.content = [...message.content.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}
