import { toRecord } from "../../../core/context/entry-fields.ts";
import { LEAF_CUSTOM_TYPE, type SessionEntry, type SessionMessageEntry } from "../../../core/format/entry.ts";
import type { Message } from "../../../core/format/message.ts";
import { CHAT_DETAIL } from "../../../core/format/redact-entry.ts";
import { encodeRecord } from "../../../core/jsonl/encode.ts";
import type { EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { readUIMessages } from "../../convert/ai-sdk/from-ui-messages.ts";
import { writeUIMessages } from "../../convert/ai-sdk/to-ui-messages.ts";
import type { UIMessage, UIMessageLike } from "../../convert/ai-sdk/ui-parts.ts";
import { appendMatching, type ConversationSession } from "../../convert/append-conversation.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import type { MessageImportOptions } from "../../convert/conversion-options.ts";
import { assertMessages } from "../../convert/message-history.ts";

/** What saving a chat did. */
export interface SavedChat {
  /** Ids of the new entries, in order; empty if nothing was new. */
  readonly entryIds: string[];
  /** Whether the leaf moved, as when a message was regenerated, edited or removed. */
  readonly hasBranched: boolean;
  /** What has no counterpart in a message of the session. */
  readonly issues: ConversionIssue[];
}

/** What the AI SDK's messages do not contain. `timestamp` defaults to now. */
export type SaveChatOptions = Partial<MessageImportOptions>;

const SPOKEN: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/**
 * Returns the active branch as UI messages of the AI SDK: all of it, including what was compacted, without instructions and
 * summaries.
 *
 * @returns A new array. A message has the id it was first saved with; if it had none, the id of its first entry.
 * @remarks Cost: O(branch). Source: docs/adapters.md#ai-sdk
 */
export function loadChat(session: SessionManager): UIMessage[] {
  const entries = session.getBranch().filter(isSpoken);
  const messages = entries.map(({ message }) => message);
  const isFirst = (index: number) => findSavedId(entries[index]) !== undefined;
  return writeUIMessages(messages, { id: (index) => getChatId(entries[index]) }, isFirst).messages;
}

/**
 * Appends what is new of a chat that the AI SDK keeps as a whole array, in one write; called again, it does nothing.
 *
 * Compares messages by content, not by id; one that was redacted in the session is told by its id, and does not come back. If one was regenerated, edited or removed, a branch starts, and nothing is lost.
 *
 * @param messages - All messages of the chat, as `onEnd` of a UI stream passes them.
 * @throws {TypeError} If an element is not a UI message.
 * @throws {SessionError} `WRITE_FAILED`, or `SESSION_NOT_FOUND` if the chat was deleted; then neither the session nor its leaf has changed.
 * @remarks Resolves once the entries are durable. Cost: O(branch + messages). Source: docs/adapters.md#ai-sdk
 */
export async function saveChat(
  session: SessionManager,
  messages: readonly UIMessageLike[],
  options: SaveChatOptions = {},
): Promise<SavedChat> {
  const { said, ids, issues } = convert(messages, options);
  const leafBefore = session.getLeafId();
  const drafts: EntryDraft[] = [];
  const mayBeSame = (entry: SessionEntry, input: Message) => {
    const [saved, id] = [findSavedId(entry), ids.get(input)];
    return !saved || !id || saved === id;
  };
  const { hasBranched } = appendMatching(makeCollector(session, ids, drafts), said, mayBeSame);
  const entryIds = drafts.length > 0 || hasBranched ? writeDrafts(session, drafts, leafBefore) : [];
  await session.flush();
  return { entryIds: drafts.length > 0 ? entryIds : [], hasBranched, issues };
}

/** Converts messages as a file will hold them, with the first message that each becomes. */
function convert(
  messages: readonly UIMessageLike[],
  options: SaveChatOptions,
): { said: Message[]; ids: Map<Message, string>; issues: ConversionIssue[] } {
  assertMessages(messages);
  // A number such as NaN is null from now on, so that the same chat is the same when the file is opened again.
  const stored: UIMessageLike[] = JSON.parse(encodeRecord(messages));
  const { timestamp = Date.now() } = options;
  const { messages: said, issues, starts } = readUIMessages(stored, { ...options, timestamp });
  const ids = new Map<Message, string>();
  stored.forEach(({ id }, index) => {
    const first = said[starts[index] ?? -1];
    // The SDK's servers have no ids for answers unless they are told to make some.
    if (first !== undefined && starts[index] !== starts[index + 1])
      ids.set(first, typeof id === "string" ? id : "");
  });
  return { said, ids, issues: [...issues] };
}

/** Makes a session that collects messages instead of writing them. */
function makeCollector(
  session: SessionManager,
  ids: ReadonlyMap<Message, string>,
  drafts: EntryDraft[],
): ConversationSession {
  return {
    getLeafId: () => session.getLeafId(),
    getBranch: () => session.getBranch(),
    getEntries: () => session.getEntries(),
    getChildren: (parentId) => session.getChildren(parentId),
    buildSessionProjection: () => session.buildSessionProjection(),
    branch: (entryId) => session.branch(entryId),
    resetLeaf: () => session.resetLeaf(),
    appendMessage: (message) => {
      const id = ids.get(message);
      drafts.push({
        type: "message",
        message,
        ...(id !== undefined && { details: { [CHAT_DETAIL]: { id } } }),
      });
      return "";
    },
  };
}

/** Writes the entries, or a record that the leaf moved. If that fails, restores the leaf. */
function writeDrafts(
  session: SessionManager,
  drafts: readonly EntryDraft[],
  leafBefore: string | null,
): string[] {
  try {
    const written = drafts.length > 0 ? drafts : [{ type: "custom", customType: LEAF_CUSTOM_TYPE }];
    return session.appendAll(written, { mustExist: true });
  } catch (error) {
    if (leafBefore === null) session.resetLeaf();
    else session.branch(leafBefore);
    throw error;
  }
}

function isSpoken(entry: SessionEntry): entry is SessionMessageEntry {
  return entry.type === "message" && SPOKEN.has(entry.message?.role);
}

function getChatId(entry: SessionEntry | undefined): string {
  return findSavedId(entry) || (entry?.id ?? "");
}

/** Returns the id of the UI message that was saved from this entry on; empty if it had none. */
function findSavedId(entry: SessionEntry | undefined): string | undefined {
  const { id } = toRecord(toRecord(toRecord(entry)["details"])[CHAT_DETAIL]);
  return typeof id === "string" ? id : undefined;
}
