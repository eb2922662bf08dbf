import { sumStatedCost } from "../../../core/facts/usage.ts";
import { assertArgument, assertSession, isIterable } from "../../../core/format/arguments.ts";
import type { Message } from "../../../core/format/message.ts";
import { assertOptions, type OptionRule } from "../../../core/format/options.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { isSameMessage } from "../../convert/append-conversation.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import { type MessageImportOptions, makeTimes } from "../../convert/conversion-options.ts";
import type { AcpUpdateLike } from "./acp-types.ts";
import { UpdateReader, type UpdateSource } from "./update-reader.ts";

/** Result of converting an agent's updates. */
export interface ConvertedAcpUpdates {
  /** Messages, plans, names, compactions, and usage, in order. Pass them to `appendAll`. */
  readonly entries: readonly (EntryDraft | DraftMaker)[];
  /** Messages among the entries. Pass them to `appendConversation`, which skips messages that a session already has. */
  readonly messages: readonly Message[];
  /** Issues with updates that were out of order or malformed. `index` is the position of the update. */
  readonly issues: readonly ConversionIssue[];
}

/**
 * Converts an Agent Client Protocol agent's updates, such as those from `session/load`, to session entries.
 *
 * @param updates - Updates, notifications that contain updates, and turn ends, in any order.
 * @param options - Time of the messages, and the model that responded. Default: an unknown model with the API `acp`.
 * @throws {TypeError} If an update is not an object, or cannot be represented as JSON.
 * @remarks Cost: O(updates). Source: docs/adapters.md#agent-client-protocol
 */
export function fromAcpUpdates(
  updates: Iterable<AcpUpdateLike>,
  options: MessageImportOptions,
): ConvertedAcpUpdates {
  assertOptions<object>(options, {});
  assertArgument("updates", updates, UPDATES);
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

const UPDATES: OptionRule = { fits: isIterable, words: "an iterable of updates" };

/** Records an Agent Client Protocol agent's work in a session, message by message, while the agent is running. */
export class AcpRecorder {
  readonly #session: SessionManager;
  readonly #reader: UpdateReader;
  /** Entries that have not been written yet. */
  #drafts: (EntryDraft | DraftMaker)[] = [];

  /**
   * @param options - Model that responds. `timestamp` defaults to the current time.
   */
  constructor(session: SessionManager, options: Partial<MessageImportOptions> = {}) {
    assertSession(session);
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

  /** Issues found so far with updates that were out of order or malformed. `index` is the position of the update. */
  get issues(): readonly ConversionIssue[] {
    return this.#reader.issues.list();
  }

  /**
   * Reads an update and appends the messages that it completes.
   *
   * @param update - An update, a notification that contains an update, or the end of a turn.
   * @returns Ids of the new entries.
   * @throws {TypeError} If it is not an object, or cannot be represented as JSON.
   * @throws {SessionError} `WRITE_FAILED`, in which case the next call retries; `SESSION_NOT_FOUND` if the session was deleted.
   */
  add(update: AcpUpdateLike): string[] {
    this.#reader.take(update);
    return this.#write();
  }

  /**
   * Ends a turn and appends everything that is still pending.
   *
   * @param stopReason - Stop reason from the agent's response to the prompt.
   * @returns Ids of the new entries.
   * @throws {SessionError} `WRITE_FAILED`, in which case the next call retries.
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

  /** Returns whether the agent is repeating the prompt that the host has already appended. */
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
