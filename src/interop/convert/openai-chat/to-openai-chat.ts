import { toRecord } from "../../../core/context/entry-fields.ts";
import { type Dialect, USUAL_DIALECT } from "../dialect.ts";
import { type PlannedItem, type RequestPlan, reportFailedResult } from "../request-plan.ts";
import { planRequest } from "../session/plan-source.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { getCallId, shortenId, ToolIds } from "../tool-ids.ts";
import {
  isReplayable,
  type OpenAIChatMessage,
  type OpenAIChatOptions,
  type OpenAIChatRequest,
  readAnswer,
  readResult,
  readSystem,
  readUser,
  writeAnswer,
  writeKeptMessage,
  writeResult,
  writeUser,
} from "./openai-chat-content.ts";

const MAX_ID = 40;

const OPENAI_CHAT: Dialect = {
  ...USUAL_DIALECT,
  form: "openaiChat",
  apis: new Set(["openai-completions"]),
  provider: "openai",
  systemInFront: "none",
  takesImages: () => false,
  newIds: () => new ToolIds({ maxLength: MAX_ID, getPart: getCallId, fitForeign: shortenId }),
  canReplay: isReplayable,
  readSystem,
  readUser,
  readAnswer,
  readResult,
};

/**
 * Converts a session, or the messages of a context, to a request for OpenAI's Chat Completions API, which many other
 * servers also support.
 *
 * Writes each result after the answer that called the tool, and images from results in a user message after the
 * results. Reasoning is sent back in its original field.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `messages` for `chat.completions.create`, and issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#openai-chat-completions
 */
export function toOpenAIChat(source: RequestSource, options: OpenAIChatOptions = {}): OpenAIChatRequest {
  const plan = planRequest(source, OPENAI_CHAT, options);
  reportFailedResult(plan);
  const role = options.systemRole ?? "system";
  const request = plan.items.flatMap((item) => writeItem(item, plan, role));
  if (plan.system !== "") request.unshift({ role, content: plan.system });
  return { messages: request, issues: plan.issues.list() };
}

function writeItem(item: PlannedItem, plan: RequestPlan, role: "system" | "developer"): OpenAIChatMessage[] {
  if (item.kind === "system") return [{ ...toRecord(item.raw), role, content: item.text }];
  if (item.kind === "user") return [isMessage(item.raw) ? item.raw : writeUser(item.content)];
  const getId = (id: string) => plan.ids.of(id);
  const results = item.results.map(({ message, raw }) => {
    return isMessage(raw) ? raw : writeResult(message, getId(message.toolCallId));
  });
  return [isMessage(item.raw) ? writeKeptMessage(item.raw) : writeAnswer(item.content, getId), ...results];
}

/** Returns whether a value is a kept message. Unknown fields are sent unchanged. */
function isMessage(raw: unknown): raw is OpenAIChatMessage {
  return typeof toRecord(raw)["role"] === "string";
}
