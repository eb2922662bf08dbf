import { sumStatedCost } from "../../../core/facts/usage.ts";
import type { Message } from "../../../core/format/message.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { isSameMessage } from "../../convert/append-conversation.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import { type MessageImportOptions, makeTimes } from "../../convert/conversion-options.ts";
import type { AcpUpdateLike } from "./acp-types.ts";
import { UpdateReader, type UpdateSource } from "./update-reader.ts";

/** Result of converting an agent's updates. */
export interface ConvertedAcpUpdates {
  /** For `appendAll`: the messages, plans, names, compactions, and usage, in order. */
  readonly entries: readonly (EntryDraft | DraftMaker)[];
  /** Messages among the entries, for `appendConversation`, which skips those that a session already has. */
  readonly messages: readonly Message[];
  /** Updates that were out of order or malformed; `index` is the update's position. */
  readonly issues: readonly ConversionIssue[];
}

/**
 * Converts updates of an Agent Client Protocol agent, such as those of its `session/load`, to session entries.
 *
 * @param updates - Updates, notifications that contain them, and ends of turns, in any order.
 * @param options - Time of the messages, and the responding model. Default: the API `acp` of an unknown model.
 * @throws {TypeError} If an update is not an object, or JSON cannot represent it.
 * @remarks Cost: O(updates). Source: docs/adapters.md#agent-client-protocol
 */
export function fromAcpUpdates(
  updates: Iterable<AcpUpdateLike>,
  options: MessageImportOptions,
): ConvertedAcpUpdates {
  const entries: (EntryDraft | DraftMaker)[] = [];
  const messages: Message[] = [];
  const reader = new UpdateReader(makeUpdateSource(options), (entry, message) => {
    entries.push(entry);
    if (message !== undefined) messages.push(message);
  });
  for (const update of updates) reader.take(update);
  reader.end();
  return { entries, messages, issues: reader.issues.list() };
}

/** Records an Agent Client Protocol agent in a session while it works, message by message. */
export class AcpRecorder {
  readonly #session: SessionManager;
  readonly #reader: UpdateReader;
  /** Entries not yet written. */
  #drafts: (EntryDraft | DraftMaker)[] = [];

  /**
   * @param options - The responding model. `timestamp` defaults to now.
   */
  constructor(session: SessionManager, options: Partial<MessageImportOptions> = {}) {
    this.#session = session;
    const cost = sumStatedCost(session.getEntries());
    const source = makeUpdateSource({ timestamp: () => Date.now(), ...options });
    this.#reader = new UpdateReader(
      { ...source, name: session.getSessionName(), cost: cost ?? 0 },
      (draft, message) => {
        if (message === undefined || !this.#isEcho(message)) this.#drafts.push(draft);
      },
    );
  }

  /** Updates that were out of order or malformed so far; `index` is the update's position. */
  get issues(): readonly ConversionIssue[] {
    return this.#reader.issues.list();
  }

  /**
   * Reads an update, and appends the messages that it completes.
   *
   * @param update - An update, a notification that contains one, or the end of a turn.
   * @returns Ids of the new entries.
   * @throws {TypeError} If it is not an object, or JSON cannot represent it.
   * @throws {SessionError} `WRITE_FAILED`; the next call tries again. `SESSION_NOT_FOUND` if the session was deleted.
   */
  add(update: AcpUpdateLike): string[] {
    this.#reader.take(update);
    return this.#write();
  }

  /**
   * Ends a turn, and appends the rest of it.
   *
   * @param stopReason - Stop reason in the agent's response to the prompt.
   * @returns Ids of the new entries.
   * @throws {SessionError} `WRITE_FAILED`; the next call tries again.
   */
  end(stopReason?: string): string[] {
    this.#reader.end(stopReason);
    return this.#write();
  }

  #write(): string[] {
    const ids = this.#session.appendAll(this.#drafts, { mustExist: true });
    this.#drafts = [];
    return ids;
  }

  /** Returns whether the agent repeats the prompt that the host has already appended. */
  #isEcho(message: Message): boolean {
    const leaf = this.#session.getLeafEntry();
    if (this.#drafts.length > 0 || message.role !== "user" || leaf?.type !== "message") return false;
    return leaf.message.role === "user" && isSameMessage(leaf.message, message);
  }
}

function makeUpdateSource(options: MessageImportOptions): UpdateSource {
  const { api = "acp", provider = "unknown", model = "unknown" } = options;
  return { api, provider, model, getTime: makeTimes(options), name: undefined, cost: 0 };
}
