import { fieldsOf } from "../../../core/context/entry-fields.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { type Dialect, isBlank, USUAL_DIALECT } from "../dialect.ts";
import { endsIn } from "../raw-form.ts";
import { type PlannedItem, planRequest } from "../request-plan.ts";
import { callIdOf, ToolIds } from "../tool-ids.ts";
import type {
  AiSdkMajor,
  ModelAnswerPart,
  ModelMessage,
  ModelMessagesOptions,
  ModelMessagesRequest,
  ModelToolResultPart,
} from "./model-message-types.ts";
import { readAnswer, readResult, readUser, writeAnswer, writeResult, writeUser } from "./model-parts.ts";
import { canReplay, canSign, familyOf } from "./provider-state.ts";
import { SdkDialect } from "./sdk-majors.ts";
import { withModelParts } from "./ui-model-parts.ts";

const MAX_ID = 64;

/** What model messages can hold, whatever the provider. */
export const MODEL_MESSAGES: Dialect = {
  ...USUAL_DIALECT,
  form: "modelMessage",
  apis: undefined,
  provider: undefined,
  startsWithUser: true,
  imageTypes: undefined,
  takesImages: ({ isError }) => !isError,
  fitName: (name) => name,
  wantsThinkingWhole: true,
  keepsSignedText: (_, api) => familyOf(api) === "google",
  isSignature: canSign,
  newIds: () => new ToolIds({ maxLength: MAX_ID, partOf: callIdOf }),
  isBlank,
  canReplay,
  readUser: (raw) => (isMessage(raw) ? readUser(raw.content) : undefined),
  readAnswer: (raw) =>
    isMessage(raw) && !endsIn(raw.content, "reasoning") ? readAnswer(raw.content) : undefined,
  readResult,
};

/**
 * Converts the messages of a context to model messages of the AI SDK.
 *
 * Signatures and item ids go where the SDK's own providers look for them. The results of an answer form one message. Files
 * and provider-executed tools of saved UI messages become the parts that `convertToModelMessages` makes of them.
 *
 * @param messages - Of a context, such as `buildSessionContext().messages`; not changed.
 * @returns The instructions and `messages` for `generateText` and `streamText`, and the issues.
 * @throws {TypeError} If `sdk` is another version than 5, 6 or 7.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#ai-sdk
 */
export function toModelMessages<Major extends AiSdkMajor = 7>(
  messages: readonly AgentMessage[],
  options?: ModelMessagesOptions<Major>,
): ModelMessagesRequest<Major>;
export function toModelMessages(
  messages: readonly AgentMessage[],
  options: ModelMessagesOptions = {},
): ModelMessagesRequest<AiSdkMajor> {
  const { system, items, ids, issues } = planRequest(withModelParts(messages), MODEL_MESSAGES, options);
  const sdk = new SdkDialect(options.sdk, messages, issues);
  const request = items.flatMap((item) =>
    sdk.fit(
      writeItem(item, (id) => ids.of(id)),
      item.index,
    ),
  );
  // Each major ignores or prefers the other's name: a request that misses its major would lose the instructions silently.
  const instructions = system === "" ? {} : { system, instructions: system };
  return { ...instructions, messages: request, issues: issues.list() };
}

function writeItem(item: PlannedItem, idOf: (id: string) => string): ModelMessage[] {
  if (item.kind === "system") return [];
  if (item.kind === "user")
    return [isMessage(item.raw) ? item.raw : { role: "user", content: writeUser(item.content) }];
  const family = item.isOwn ? familyOf(item.api) : undefined;
  const parts = writeAnswer(item.content, family, idOf);
  const answer: ModelMessage = isMessage(item.raw)
    ? keptAnswer(item.raw, item.isOwn)
    : { role: "assistant", content: item.isIncomplete ? parts.map(withoutItem) : parts };
  if (item.results.length === 0) return [answer];
  const results = item.results.map(
    ({ message, raw }): ModelToolResultPart =>
      isResult(raw) ? raw : writeResult(message, message.toolName, idOf(message.toolCallId)),
  );
  return [answer, { role: "tool", content: results }];
}

/** Returns a kept answer; for another model with the text that a custom tool took as an object, as all can read it. */
function keptAnswer(raw: ModelMessage, isOwn: boolean): ModelMessage {
  if (isOwn || raw.role !== "assistant" || typeof raw.content === "string") return raw;
  const content = raw.content.map((part) =>
    part.type === "tool-call" && typeof part.input === "string"
      ? { ...part, input: { input: part.input } }
      : part,
  );
  return { ...raw, content };
}

/** Returns a part without the id of its item: OpenAI rejects items with ids if their reasoning is missing. */
function withoutItem(part: ModelAnswerPart): ModelAnswerPart {
  const { providerOptions, ...rest } = part;
  const { openai, ...others } = providerOptions ?? {};
  if (openai === undefined) return part;
  const { itemId: _, ...kept } = openai;
  const options = { ...others, ...(Object.keys(kept).length > 0 && { openai: kept }) };
  return { ...rest, ...(Object.keys(options).length > 0 && { providerOptions: options }) };
}

/** Tells whether a value is a kept message. Unknown parts are sent unchanged. */
function isMessage(raw: unknown): raw is ModelMessage {
  return typeof fieldsOf(raw)["role"] === "string";
}

function isResult(raw: unknown): raw is ModelToolResultPart {
  return readResult(raw) !== undefined;
}
