import { toRecord } from "../../../core/context/entry-fields.ts";
import { assertSession } from "../../../core/format/arguments.ts";
import { LEAF_CUSTOM_TYPE } from "../../../core/format/entry.ts";
import type { Message } from "../../../core/format/message.ts";
import { assertOptions } from "../../../core/format/options.ts";
import { getRedactedIds } from "../../../core/format/redaction.ts";
import { encodeRecord } from "../../../core/jsonl/encode.ts";
import type { EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { readUIMessages } from "../../convert/ai-sdk/from-ui-messages.ts";
import { splitSteps, type UIMessage, type UIMessageLike } from "../../convert/ai-sdk/ui-parts.ts";
import {
  appendMatching,
  type ConversationSession,
  hasSameOriginal,
  type Sameness,
} from "../../convert/append-conversation.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import type { MessageImportOptions } from "../../convert/conversion-options.ts";
import { assertMessages } from "../../convert/message-history.ts";
import { findRaw, keepRaw } from "../../convert/raw-form.ts";
import { findSavedId, readChat } from "./chat-entries.ts";
import { type ChatDraft, ChatProgress, isProgress } from "./chat-progress.ts";

/** Result of saving a chat. */
export interface SavedChat {
  /** Ids of the new entries, in order. Empty if there was nothing new. */
  readonly entryIds: string[];
  /** Whether the leaf moved, for example because a message was regenerated, edited, or removed. */
  readonly hasBranched: boolean;
  /** Issues with parts that have no counterpart in a session's messages. */
  readonly issues: ConversionIssue[];
}

/** Facts that AI SDK messages do not contain. `timestamp` defaults to the current time. */
export type SaveChatOptions = Partial<MessageImportOptions>;

/**
 * Returns the whole active branch as AI SDK UI messages, including compacted messages, but without instructions or summaries.
 *
 * @returns A new array. Each message keeps the id with which it was first saved or, if it was saved without an id, gets the id of
 *   its first entry.
 * @remarks Cost: O(branch). Source: docs/adapters.md#ai-sdk
 */
export function loadChat(session: SessionManager): UIMessage[] {
  assertSession(session);
  return readChat(session.getBranch()).map(({ message }) => message);
}

/**
 * Appends the new part of an AI SDK chat, which is an array of messages, in a single write. This function is idempotent.
 *
 * Compares messages by content. A message that has only progressed, for example with a result, an answered approval, or more
 * steps, is treated as the same message. If a message was regenerated, edited, or removed, a branch is created, and nothing is
 * lost. A message that was redacted in the session is recognized by its id and is not restored.
 *
 * @param messages - All messages in the chat, as passed to a UI stream's `onEnd`.
 * @throws {TypeError} If an element is not a UI message.
 * @throws {SessionError} `WRITE_FAILED`, or `SESSION_NOT_FOUND` if the chat was deleted. In both cases, the session and its leaf
 *   are unchanged.
 * @remarks Resolves once the entries are durable. Cost: O(branch + messages). Source: docs/adapters.md#ai-sdk
 */
export async function saveChat(
  session: SessionManager,
  messages: readonly UIMessageLike[],
  options: SaveChatOptions = {},
): Promise<SavedChat> {
  assertSession(session);
  assertOptions<object>(options, {});
  return save(session, messages, options, (drafts, leafBefore) => writeDrafts(session, drafts, leafBefore));
}

/**
 * Saves a chat that contains answers to calls in its last message, unless the session was continued in the meantime. Otherwise, a
 * call that was approved once could run twice.
 *
 * @throws {SessionError} `STALE_LEAF`
 */
export async function saveAnswers(
  session: SessionManager,
  messages: readonly UIMessageLike[],
): Promise<void> {
  await save(session, messages, {}, async ([first, ...rest], leafBefore) => {
    if (first === undefined) return [];
    const id = await session.appendIfLeaf(first, { expectedLeafId: leafBefore });
    return [id, ...session.appendAll(rest, { mustExist: true })];
  });
}

async function save(
  session: SessionManager,
  messages: readonly UIMessageLike[],
  options: SaveChatOptions,
  store: (drafts: readonly EntryDraft[], leafBefore: string | null) => string[] | Promise<string[]>,
): Promise<SavedChat> {
  const chat = convert(messages, options);
  const leafBefore = session.getLeafId();
  const collected: Message[] = [];
  const { hasBranched, entries } = appendMatching(
    makeCollector(session, collected),
    chat.said,
    chat.sameness,
  );
  const progress = new ChatProgress(makeChatDrafts(chat, collected), entries, makeRedactionCheck(session));
  const drafts = progress.draftsFor(chat.saved, session.getBranch());
  const entryIds = drafts.length > 0 || hasBranched ? await store(drafts, leafBefore) : [];
  await session.flush();
  return { entryIds: drafts.length > 0 ? entryIds : [], hasBranched, issues: chat.issues };
}

/** A chat converted to the format of a session. */
interface ConvertedChat {
  readonly said: readonly Message[];
  readonly saved: readonly SavedMessage[];
  readonly sameness: Sameness;
  readonly issues: ConversionIssue[];
  readonly options: MessageImportOptions;
}

/** A UI message and the messages converted from it. */
interface SavedMessage {
  readonly input: UIMessageLike;
  readonly first: Message | undefined;
  readonly said: readonly Message[];
}

/** Converts messages to their stored form. */
function convert(messages: readonly UIMessageLike[], given: SaveChatOptions): ConvertedChat {
  assertMessages(messages);
  // A number such as NaN becomes null here, so that the chat is still equal after the file is opened again.
  const stored: UIMessageLike[] = JSON.parse(encodeRecord(messages));
  const options = { ...given, timestamp: given.timestamp ?? Date.now() };
  const { messages: said, issues, starts } = readUIMessages(stored, options);
  const saved = stored.map((input, index): SavedMessage => {
    const own = said.slice(starts[index], starts[index + 1] ?? said.length);
    return { input, first: own[0], said: own };
  });
  const ids = listSavedIds(saved);
  const mayHaveId = (savedId: string | undefined, id: string | undefined) =>
    !savedId || !id || savedId === id;
  const sameness: Sameness = {
    mayBeSame: (entry, input) => mayHaveId(findSavedId(entry), ids.get(input)),
    hasSameOriginal: (entry, before, input) =>
      hasSameOriginal(before, input) ||
      (mayHaveId(findSavedId(entry), ids.get(input)) && isProgress(before, input)),
  };
  return { said, saved, sameness, issues: [...issues], options };
}

/**
 * Returns the ids of UI messages, keyed by the first message of each. The SDK's servers do not assign ids to answers unless they
 * are configured to.
 */
function listSavedIds(saved: readonly SavedMessage[]): Map<Message, string> {
  return new Map(
    saved.flatMap(({ input, first }) =>
      first === undefined ? [] : [[first, typeof input.id === "string" ? input.id : ""] as const],
    ),
  );
}

/**
 * Creates drafts for the collected messages. If some steps of a UI message are already stored, the next draft contains the
 * remaining steps.
 */
function makeChatDrafts({ saved, options }: ConvertedChat, collected: readonly Message[]): ChatDraft[] {
  const ids = listSavedIds(saved);
  const rests = new Map<Message, Message>();
  const added = new Set(collected);
  for (const { input, first, said } of saved) {
    const answers = said.filter(({ role }) => role === "assistant");
    const at = answers.findIndex((message) => added.has(message));
    const answer = answers[at];
    if (answer === undefined || answer === first) continue;
    const kept = getRest(input, at, options);
    if (kept !== undefined) rests.set(answer, Object.assign({}, answer, { details: kept }));
  }
  return collected.map((message) => ({ message: rests.get(message) ?? message, id: ids.get(message) }));
}

/** Returns the data to keep from a UI message, starting at a step; undefined if its messages already contain all the data. */
function getRest(input: UIMessageLike, step: number, options: MessageImportOptions): object | undefined {
  const parts = splitSteps(input.parts)
    .slice(step)
    .flatMap((said) => [{ type: "step-start" }, ...said.map((part) => ({ type: "", ...part }))]);
  const { messages } = readUIMessages([{ id: input.id, role: input.role, parts }], options);
  const kept = messages[0] === undefined ? undefined : findRaw(messages[0], "uiMessage");
  return kept === undefined ? undefined : keepRaw("uiMessage", { parts: toRecord(kept)["parts"] });
}

function makeRedactionCheck(session: SessionManager): (entryId: string) => boolean {
  let ids: ReadonlySet<string> | undefined;
  return (entryId) => {
    ids ??= new Set(session.getEntries().flatMap(getRedactedIds));
    return ids.has(entryId);
  };
}

/** Creates a session object that collects messages instead of writing them. */
function makeCollector(session: SessionManager, collected: Message[]): ConversationSession {
  return {
    getLeafId: () => session.getLeafId(),
    getBranch: () => session.getBranch(),
    getEntries: () => session.getEntries(),
    getChildren: (parentId) => session.getChildren(parentId),
    buildSessionProjection: () => session.buildSessionProjection(),
    branch: (entryId) => session.branch(entryId),
    resetLeaf: () => session.resetLeaf(),
    appendMessage: (message) => {
      collected.push(message);
      return "";
    },
  };
}

/** Writes the entries, or records that the leaf moved. Restores the leaf if that fails. */
function writeDrafts(
  session: SessionManager,
  drafts: readonly EntryDraft[],
  leafBefore: string | null,
): string[] {
  try {
    const written: readonly EntryDraft[] =
      drafts.length > 0 ? drafts : [{ type: "custom", customType: LEAF_CUSTOM_TYPE }];
    return session.appendAll(written, { mustExist: true });
  } catch (error) {
    if (leafBefore === null) session.resetLeaf();
    else session.branch(leafBefore);
    throw error;
  }
}
