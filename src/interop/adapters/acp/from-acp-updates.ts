import { sumStatedCost } from "../../../core/facts/usage.ts";
import type { Message } from "../../../core/format/message.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { isSameMessage } from "../../convert/append-conversation.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import { type MessageImportOptions, makeTimes } from "../../convert/conversion-options.ts";
import type { AcpUpdateLike } from "./acp-types.ts";
import { UpdateReader, type UpdateSource } from "./update-reader.ts";

/** What the updates of an agent become. */
export interface ConvertedAcpUpdates {
  /** For `appendAll`: the messages, plans, names, compactions and usage, in order. */
  readonly entries: readonly (EntryDraft | DraftMaker)[];
  /** The messages among them, for `appendConversation`, which leaves out what a session has already. */
  readonly messages: readonly Message[];
  /** What was out of order or malformed; `index` counts the updates. */
  readonly issues: readonly ConversionIssue[];
}

/**
 * Converts the updates of an agent of the Agent Client Protocol, such as those of its `session/load`, to entries of a session.
 *
 * @param updates - Updates, notifications that hold them, and ends of turns, in any order.
 * @param options - The time of the messages, and who answers. Default: the API `acp` of an unknown model.
 * @throws {TypeError} If an update is no object, or JSON cannot hold it.
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

/** Records an agent of the Agent Client Protocol in a session while it works, message by message. */
export class AcpRecorder {
  readonly #session: SessionManager;
  readonly #reader: UpdateReader;
  /** Entries that are not written yet. */
  #drafts: (EntryDraft | DraftMaker)[] = [];

  /** @param options - Who answers. `timestamp` defaults to now. */
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

  /** What was out of order or malformed so far; `index` counts the updates. */
  get issues(): readonly ConversionIssue[] {
    return this.#reader.issues.list();
  }

  /**
   * Takes an update, and appends the messages that it completes.
   *
   * @param update - An update, a notification that holds one, or the end of a turn.
   * @returns Ids of the new entries.
   * @throws {TypeError} If it is no object, or JSON cannot hold it.
   * @throws {SessionError} `WRITE_FAILED`; the next call tries again. `SESSION_NOT_FOUND` if the session was deleted.
   */
  add(update: AcpUpdateLike): string[] {
    this.#reader.take(update);
    return this.#write();
  }

  /**
   * Ends a turn, and appends what is left of it.
   *
   * @param stopReason - As the agent answered the prompt.
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

  /** Tells whether an agent repeats the question that the host has appended. */
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
