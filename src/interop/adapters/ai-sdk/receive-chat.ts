import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type {
  AiSdkMajor,
  ModelMessagesOptions,
  ModelMessagesRequest,
} from "../../convert/ai-sdk/model-message-types.ts";
import { toModelMessages } from "../../convert/ai-sdk/to-model-messages.ts";
import {
  getToolName,
  isStepStart,
  isToolPart,
  type UIMessage,
  type UIMessageLike,
} from "../../convert/ai-sdk/ui-parts.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import { withoutFields } from "../../convert/raw-form.ts";
import { loadChat, saveAnswers, saveChat } from "./chat.ts";

/** Content that a page may send in addition to the user's text. */
interface Allowed {
  readonly clientTools?: readonly string[];
  readonly fileTypes?: readonly string[];
}

/**
 * Stores the parts of a chat that a page is allowed to send, and returns the chat and the prompt for the next answer.
 *
 * Accepts the user's last message, results of open calls to `clientTools`, and answers to open approvals. Everything else, such
 * as earlier messages and the model's text, comes from the session. If the id of a user message is already in the chat, the new
 * message replaces the old one and everything after it, on a new branch.
 *
 * @param body - Parsed body of the request from the SDK's transport: `{ messages }`, or `{ message }` with the last message.
 * @param options - Options for `toModelMessages`, plus `clientTools`, the names of the tools that run in the page, and
 *   `fileTypes`, the media types of files that the user may send as `data:` URLs. Both are empty by default.
 * @returns The stored chat, including the new messages; the prompt for `streamText`; and the ids of calls that are still waiting
 *   for the page. If any calls are still waiting, do not call the model.
 * @throws {SessionError} `CHAT_INVALID` if the page sent anything else, such as an answer to an approval that is not open;
 *   `STALE_LEAF` if the session was continued in the meantime; `WRITE_FAILED`. In each case, nothing was stored.
 * @remarks Cost: O(branch). Source: docs/chat-app.md
 */
export async function receiveChat<Major extends AiSdkMajor = 7>(
  session: SessionManager,
  body: unknown,
  options: ModelMessagesOptions<Major> & {
    readonly clientTools?: readonly string[];
    readonly fileTypes?: readonly string[];
  } = {},
): Promise<{
  messages: UIMessage[];
  prompt: Omit<ModelMessagesRequest<Major>, "issues">;
  openCalls: string[];
  issues: ConversionIssue[];
}> {
  assertOptions<object>(options, {});
  const { messages: sent, message = toArray(sent).at(-1) } = toRecord(body);
  const stored = loadChat(session);
  const { id, role, parts } = toRecord(message);
  if (typeof id !== "string" || id === "" || !Array.isArray(parts))
    throw refused("The last message has no id or no parts; send it in the form of the SDK's transport.");
  const page = parts.map(toRecord);
  if (role === "user") await saveChat(session, withQuestion(stored, id, page, options));
  else if (role === "assistant") await saveAnswers(session, withAnswers(stored, id, page, options));
  else
    throw refused(
      "The last message is from neither the user nor the assistant; send a message from one of them.",
    );
  const messages = loadChat(session);
  const request: ModelMessagesRequest<Major> = toModelMessages<Major>(
    session.buildSessionContext().messages,
    options,
  );
  const { issues, ...prompt } = request;
  return { messages, prompt, openCalls: listOpenCalls(messages.at(-1)), issues };
}

function refused(message: string, details: JsonRecord = {}): SessionError {
  return new SessionError("CHAT_INVALID", message, { details });
}

function withQuestion(
  stored: readonly UIMessage[],
  id: string,
  sent: readonly JsonRecord[],
  { fileTypes = [] }: Allowed,
): UIMessageLike[] {
  const parts = sent.map((part) => readUserPart(part, fileTypes));
  if (parts.length === 0) throw refused("The user's message has no parts; send at least one.");
  const at = stored.findIndex((message) => message.id === id);
  const old = stored[at];
  if (old !== undefined && old.role !== "user")
    throw refused("The user's message has the id of an answer; give it a different id.", { messageId: id });
  const texts = (list: readonly object[]) => JSON.stringify(list.map((part) => toRecord(part)["text"]));
  // A question that is sent again keeps the data that exists only in the session.
  const question =
    old !== undefined && texts(old.parts) === texts(parts) ? old : { id, role: "user" as const, parts };
  return [...stored.slice(0, at === -1 ? stored.length : at), question];
}

function readUserPart(
  { type, text, mediaType, url, filename }: JsonRecord,
  fileTypes: readonly string[],
): { readonly type: string; readonly [field: string]: unknown } {
  if (type === "text" && typeof text === "string") return { type, text };
  const isAllowed = typeof mediaType === "string" && fileTypes.includes(mediaType);
  const isInline = typeof url === "string" && url.startsWith(`data:${toSafeString(mediaType)};`);
  if (type === "file" && isAllowed && isInline)
    return {
      type,
      ...withoutFields({ mediaType, url, filename: typeof filename === "string" ? filename : null }),
    };
  throw refused(
    `The user's message has a part of type ${toSafeString(type)} that is not allowed; send text, and files of allowed types as data: URLs.`,
  );
}

/** Returns the stored chat, updated with the answers from the page's copy of the last message. */
function withAnswers(
  stored: readonly UIMessage[],
  id: string,
  page: readonly JsonRecord[],
  { clientTools = [] }: Allowed,
): UIMessageLike[] {
  const last = stored.at(-1);
  if (last?.role !== "assistant" || last.id !== id)
    throw refused("The answer that the page continues is not the last message; load the chat again.", {
      messageId: id,
    });
  const calls = new Map(
    last.parts.filter(isToolPart).map((part) => [toRecord(part)["toolCallId"], toRecord(part)]),
  );
  const answers = new Map<JsonRecord, JsonRecord>();
  for (const sent of page.filter((part) => isToolPart(part) && isClaim(part))) {
    const { toolCallId } = sent;
    const call = calls.get(toolCallId);
    if (call === undefined)
      throw refused("The chat has no call with this id; load it again.", { toolCallId });
    const answer = readAnswer(call, sent, clientTools);
    if (answer !== undefined) answers.set(call, answer);
  }
  if (answers.size === 0)
    throw refused(
      "No call is waiting for this answer, because it was already received. Load the chat again.",
      {
        messageId: id,
      },
    );
  const parts = last.parts.map((part) => Object.assign({}, part, answers.get(toRecord(part)) ?? {}));
  return [...stored.slice(0, -1), { ...last, parts }];
}

/** Returns whether a page reports the outcome of a call. */
function isClaim({ state }: JsonRecord): boolean {
  return state !== "input-streaming" && state !== "input-available" && state !== "approval-requested";
}

/** Reads the outcome that a page reports for a call; undefined if the outcome is already in the session. */
function readAnswer(
  call: JsonRecord,
  sent: JsonRecord,
  clientTools: readonly string[],
): JsonRecord | undefined {
  const { state, toolCallId, providerExecuted } = call;
  const { id: approvalId, approved } = toRecord(call["approval"]);
  const { approval: answer } = sent;
  const isRepeated = toRecord(answer)["id"] === approvalId && toRecord(answer)["approved"] === approved;
  if (state === "approval-requested") return readApproval(call, sent);
  const mayRun = state === "input-available" || (state === "approval-responded" && approved === true);
  const isResult = sent["state"] === "output-available" || sent["state"] === "output-error";
  if (!mayRun || (!isResult && state === "approval-responded")) {
    if (isRepeated) return undefined;
    throw refused("The approval is not open: it was already answered, or its id does not match.", {
      toolCallId,
      approvalId: toRecord(answer)["id"],
    });
  }
  const isClients = clientTools.includes(toSafeString(getToolName(call))) && providerExecuted !== true;
  if (!isResult || !isClients || !isRepeated)
    throw refused(
      "A page cannot set the outcome of this call: its tool is not in clientTools, or it is not waiting for approval.",
      {
        toolCallId,
      },
    );
  const { output = null, errorText } = sent;
  return sent["state"] === "output-available"
    ? { state: "output-available", output }
    : { state: "output-error", errorText: toSafeString(errorText ?? "") };
}

function readApproval({ approval, toolCallId }: JsonRecord, sent: JsonRecord): JsonRecord {
  const { id, approved, reason } = toRecord(sent["approval"]);
  const isOpen = sent["state"] === "approval-responded" && id === toRecord(approval)["id"];
  if (!isOpen || typeof approved !== "boolean")
    throw refused("The call is waiting for a different approval, or the answer is neither yes nor no.", {
      toolCallId,
      approvalId: id,
    });
  const given = { ...toRecord(approval), approved, ...(typeof reason === "string" && { reason }) };
  return { state: "approval-responded", approval: given };
}

/** Returns the ids of the last step's calls that are waiting for a page. */
function listOpenCalls(message: UIMessage | undefined): string[] {
  if (message?.role !== "assistant") return [];
  const parts: readonly object[] = message.parts;
  const step = parts.slice(parts.findLastIndex(isStepStart) + 1).map(toRecord);
  return step.flatMap(({ state, toolCallId, providerExecuted }) => {
    const isOpen =
      (state === "input-available" && providerExecuted !== true) || state === "approval-requested";
    return isOpen ? [toSafeString(toolCallId)] : [];
  });
}
