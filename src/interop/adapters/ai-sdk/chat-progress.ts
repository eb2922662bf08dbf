import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { DETAILS_CUSTOM_TYPE } from "../../../core/context/late-details.ts";
import type { SessionEntry, SessionMessageEntry } from "../../../core/format/entry.ts";
import type { Message } from "../../../core/format/message.ts";
import { CHAT_DETAIL } from "../../../core/format/redact-entry.ts";
import type { EntryDraft } from "../../../session/manager/entry-draft.ts";
import { readMetadataFacts } from "../../convert/ai-sdk/from-ui-messages.ts";
import { isToolPart, type UIMessageLike } from "../../convert/ai-sdk/ui-parts.ts";
import { readUIState, type UIState } from "../../convert/ai-sdk/ui-state.ts";
import { toUsage } from "../../convert/answer.ts";
import { findRaw, isSameJson, STATE_DETAIL } from "../../convert/raw-form.ts";
import { type ChatMessage, findSavedId, readChat } from "./chat-entries.ts";

/** Returns whether an input is a later state of a stored message with the same text and calls. */
export function isProgress(stored: Message, input: Message): boolean {
  const [before, after] = [partsKept(stored), partsKept(input)];
  if (stored.role === "user") return isSameJson(before.map(withoutState), after.map(withoutState));
  if (stored.role !== "assistant") return false;
  const [old, now] = [before.filter(isFinal), after.filter(isFinal)];
  return old.every((part, at) => isSameJson(part, now[at]));
}

function partsKept(message: Message): readonly object[] {
  return toArray(toRecord(findRaw(message, "uiMessage"))["parts"]).map(toRecord);
}

function withoutState(part: object): object {
  const { state: _, ...rest } = toRecord(part);
  return rest;
}

/**
 * Returns whether a part without a message block is final, which is the case for files and for finished tools run by the
 * provider.
 */
function isFinal(part: object): boolean {
  const { type, state, providerExecuted } = toRecord(part);
  if (!isToolPart(part)) return type === "file" || type === "reasoning-file" || type === "custom";
  return providerExecuted === true && (state === "output-available" || state === "output-error");
}

/** A message to append, and the id of the UI message that begins with it. */
export interface ChatDraft {
  readonly message: Message;
  readonly id: string | undefined;
}

/** Creates the entry for a message. */
function messageDraft({ message, id }: ChatDraft): EntryDraft & { readonly message: Message } {
  const details = id === undefined ? {} : { details: { [CHAT_DETAIL]: { id } } };
  return { type: "message", message, ...details };
}

/** A UI message to save, and the first message converted from it. */
interface Saved {
  readonly input: UIMessageLike;
  readonly first: Message | undefined;
}

/** The state of a chat's session after saving, used to determine which data to add that is not in the messages. */
export class ChatProgress {
  readonly #drafts: ChatDraft[];
  readonly #added: EntryDraft[] = [];
  readonly #stored: ReadonlyMap<Message, SessionEntry>;
  readonly #isRedacted: (entryId: string) => boolean;

  /**
   * @param drafts - Messages to append to the path.
   * @param stored - Entries of the messages already on the path.
   */
  constructor(
    drafts: readonly ChatDraft[],
    stored: ReadonlyMap<Message, SessionEntry>,
    isRedacted: (entryId: string) => boolean,
  ) {
    this.#drafts = [...drafts];
    this.#stored = stored;
    this.#isRedacted = isRedacted;
  }

  /** Returns the entries to append so that each UI message on the path matches the message in the chat. */
  draftsFor(chat: readonly Saved[], path: readonly SessionEntry[]): EntryDraft[] {
    const pending = this.#drafts.map((draft, at): SessionMessageEntry => {
      const head = { id: `draft ${at}`, parentId: null, timestamp: "" };
      return { ...head, ...messageDraft(draft), type: "message" };
    });
    const written = readChat([...path, ...pending]);
    const byEntry = new Map(written.flatMap((one) => one.entries.map(({ id }) => [id, one] as const)));
    const ids = new Map(this.#drafts.map(({ message }, at) => [message, pending[at]?.id]));
    for (const { input, first } of chat) {
      if (first === undefined) continue;
      const id = this.#stored.get(first)?.id ?? ids.get(first);
      const found = id === undefined ? undefined : byEntry.get(id);
      if (found !== undefined) this.#update(found, input, pending);
    }
    return [...this.#drafts.map(messageDraft), ...this.#added];
  }

  #update(found: ChatMessage, input: UIMessageLike, pending: readonly SessionMessageEntry[]): void {
    const { id: _, ...now } = found.message;
    const { id: __, ...next } = input;
    if (isSameJson(now, next)) return;
    const changes = found.changesTo(input);
    const isSaved = findSavedId(found.entries[0]) !== undefined;
    const states = found.entries.map((_, at): UIState => {
      const { splice, ...others } = changes[at] ?? {};
      // Other programs may write content that a chat does not have.
      return isSaved && splice !== undefined ? { ...others, splice } : others;
    });
    const changed = found.entries.flatMap((entry, at) => {
      const state = states[at] ?? {};
      return isSameJson(readUIState(toRecord(found.said[at])["details"]), state) ? [] : [{ entry, state }];
    });
    const all = [...found.entries, ...found.results];
    if (changed.length === 0 || all.some(({ id }) => this.#isRedacted(id))) return;
    for (const { entry, state } of changed) {
      const index = pending.indexOf(entry);
      if (index === -1) this.#addDetails(entry.id, state);
      else this.#setState(index, state);
    }
    const last = found.entries.at(-1);
    if (last !== undefined && !pending.includes(last)) this.#addUsage(last, found, input);
  }

  #addDetails(targetId: string, state: UIState): void {
    const data = { targetId, details: { [STATE_DETAIL]: state } };
    this.#added.push({ type: "custom", customType: DETAILS_CUSTOM_TYPE, data });
  }

  #setState(index: number, state: UIState): void {
    const draft = this.#drafts[index];
    if (draft === undefined) return;
    const details = { ...toRecord(draft.message.details), [STATE_DETAIL]: state };
    this.#drafts[index] = { ...draft, message: Object.assign({}, draft.message, { details }) };
  }

  /** Adds usage for stored answers that is newly reported in the metadata. The answers themselves never change. */
  #addUsage(last: SessionMessageEntry, found: ChatMessage, input: UIMessageLike): void {
    const { message } = last;
    const { usage } = readMetadataFacts(input);
    if (message.role !== "assistant" || usage === undefined) return;
    const { usage: before } = readMetadataFacts(found.message);
    if (before === undefined && toNumber(message.usage?.totalTokens) > 0) return;
    const more = (name: "input" | "output" | "cacheRead" | "cacheWrite") =>
      usage[name] - (before?.[name] ?? 0);
    const added = toUsage({
      input: more("input"),
      output: more("output"),
      cacheRead: more("cacheRead"),
      cacheWrite: more("cacheWrite"),
    });
    if (added.totalTokens === 0) return;
    const { provider, model } = message;
    this.#added.push({ type: "usage", kind: "chat", provider, model, usage: added });
  }
}
