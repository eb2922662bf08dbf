import { toRecord } from "../../../core/context/entry-fields.ts";
import { joinSystemText } from "../../../core/context/system-message.ts";
import { isJsonRecord } from "../../../core/format/json.ts";
import type { Message } from "../../../core/format/message.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isBlank, USUAL_DIALECT } from "../dialect.ts";
import { findRaw, isSameJson } from "../raw-form.ts";
import type { PlannedItem } from "../request-plan.ts";
import { planRequest, writePlan } from "../session/plan-source.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { getCallId, ToolIds } from "../tool-ids.ts";
import {
  isReplayable,
  type LangChainMessage,
  type LangChainRequest,
  readAnswer,
  readResult,
  readUser,
  writeAnswer,
  writeResult,
  writeUser,
} from "./langchain-content.ts";

/** Maximum length of an id. This is OpenAI's limit, which all of LangChain's providers accept. */
const MAX_ID = 40;

const LANGCHAIN: Dialect = {
  ...USUAL_DIALECT,
  form: "langchain",
  apis: undefined,
  provider: undefined,
  startsWithUser: true,
  takesImages: (_, target) => target?.provider === "anthropic",
  newIds: () => new ToolIds({ maxLength: MAX_ID, getPart: getCallId }),
  isBlank,
  wantsThinkingWhole: true,
  isSignature: () => false,
  canReplay: isReplayable,
  readUser,
  readAnswer,
  readResult,
};

/**
 * Converts a session, or the messages of a context, to LangChain's stored form, for any of LangChain's models.
 *
 * Instructions are combined into one message at the front. Anthropic's thinking is sent back as Anthropic blocks. Images remain
 * in results only for Anthropic.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `messages` for `mapStoredMessagesToChatMessages`, and issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#langchain
 */
export function toLangChain(source: RequestSource, options: RequestOptions = {}): LangChainRequest {
  const { system, items, ids, issues } = planRequest(source, LANGCHAIN, options, { write: writePlan });
  const instructions = system === "" ? [] : [{ type: "system", data: { content: system } }];
  const request = items.flatMap((item) => writeItem(item, (id) => ids.of(id)));
  return { messages: [...instructions, ...request].filter(isMessage), issues: issues.list() };
}

/**
 * Converts messages to LangChain's stored form one by one, for a host's own history. Does not drop or repair anything.
 */
export function writeMessages(messages: readonly Message[]): LangChainMessage[] {
  return messages.map(writeMessage).filter(isMessage);
}

function writeMessage(message: Message): object {
  const raw = findRaw(message, "langchain");
  const kept = (said: unknown) => (isSameJson(said, message.content) ? copyKept({ raw }) : undefined);
  switch (message.role) {
    case "system":
      return { type: "system", data: { content: joinSystemText([message]) } };
    case "user":
      return kept(readUser(raw)) ?? writeUser(message.content);
    case "assistant":
      return kept(readAnswer(raw)) ?? writeAnswer(message.content, (id) => id);
    case "toolResult":
      return (
        kept(readResult(raw)?.content) ??
        writeResult(message, getCallId(message.toolCallId), message.toolName)
      );
  }
}

function writeItem(item: PlannedItem, getId: (id: string) => string): object[] {
  if (item.kind === "system") return [];
  if (item.kind === "user") return [copyKept(item) ?? writeUser(item.content)];
  const results = item.results.map(
    (result) =>
      copyKept(result) ??
      writeResult(result.message, getId(result.message.toolCallId), result.message.toolName),
  );
  return [copyKept(item) ?? writeAnswer(item.content, getId), ...results];
}

/** Copies a stored original, because LangChain adds fields to the objects it creates instances from. */
function copyKept({ raw }: { readonly raw: unknown }): object | undefined {
  return isMessage(raw) ? structuredClone(raw) : undefined;
}

/** Returns whether a value is a stored message. LangChain's types for its fields are narrower than the values that it accepts. */
function isMessage(value: unknown): value is LangChainMessage {
  const { type, data } = toRecord(value);
  return typeof type === "string" && isJsonRecord(data);
}
