import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { subagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type Draft, entryIdOf, SessionBuilder } from "../session-builder.ts";
import { member, textIn, textOf } from "../source-values.ts";
import { MessageWriter, partKey } from "./message-writer.ts";
import { usageOfTokens } from "./parts.ts";
import { createdMs, type DeletedMessage, readMessages, type StoredMessage } from "./stored-messages.ts";

/** A session of OpenCode. */
export interface OpenCodeInput {
  /** What `opencode export` writes, parsed: `{ info, messages: [{ info, parts }] }`. */
  readonly document: unknown;
  /** Messages that are not in the document any more. */
  readonly deleted?: readonly DeletedMessage[];
  /** Id of the session that it was forked from; the program does not store it. */
  readonly forkedFrom?: string;
  /** Call of the parent that started it as a subagent. */
  readonly toolCallId?: string;
  /** Path of the file. */
  readonly path?: string;
  /** Issues with what it was read from. */
  readonly issues?: readonly SessionIssue[];
  /** ISO 8601. */
  readonly importedAt: string;
}

/**
 * Converts a session of OpenCode 1 to a session.
 *
 * What was reverted is a branch, and a compaction is what the program sent from then on. Ids are made of what a fork
 * copies, so that its entries have those of the original.
 *
 * @returns Undefined if the document contains no conversation.
 * @throws {SessionError} `NOT_A_SESSION` if its messages have the form of a newer version.
 * @remarks Cost: O(messages and parts). Source: docs/import-records.md#opencode
 */
export function importOpenCode(input: OpenCodeInput): ImportedSession | undefined {
  const { messages, issues } = readMessages(input.document, input.deleted ?? []);
  const info = member(fieldsOf(input.document), "info");
  if (messages.length === 0 && issues.length > 0) throw newerVersion(input.path);
  if (!messages.some(isSaid)) return undefined;
  return new OpenCodeImport(input, info, messages, issues).run();
}

/** Returns the error for sessions in a form that is not known. */
export function newerVersion(path = "It"): SessionError {
  const message = `${path} holds messages as OpenCode 2 stores them, which this version of sessiontree does not read. Only those of OpenCode 1 can be imported.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path, source: "opencode" } });
}

function isSaid({ info }: StoredMessage): boolean {
  return info["role"] === "user" || info["role"] === "assistant";
}

/** State of a session behind a message. */
interface MessageState {
  /** The first entry of the message, and the last one so far; undefined if there is none. */
  readonly first: Draft | undefined;
  readonly last: Draft | undefined;
  /** Size of the context, according to the last answer. */
  readonly contextTokens: number;
}

const START: MessageState = { first: undefined, last: undefined, contextTokens: 0 };

/** Names that the program gives to sessions of which it knows nothing. */
const UNNAMED = /^(?:New|Child) session - \d{4}-/;

class OpenCodeImport {
  readonly #info: JsonRecord;
  readonly #messages: readonly StoredMessage[];
  readonly #builder: SessionBuilder;
  readonly #writer: MessageWriter;
  readonly #states = new Map<StoredMessage, MessageState>();
  readonly #summaries: ReadonlyMap<StoredMessage, StoredMessage>;

  constructor(
    input: OpenCodeInput,
    info: JsonRecord,
    messages: readonly StoredMessage[],
    issues: readonly SessionIssue[],
  ) {
    this.#info = info;
    this.#messages = messages;
    this.#summaries = summariesIn(messages);
    const id = textOf(info["id"]) ?? "unknown";
    const folders = messages.map((message) => member(message.info, "path")["cwd"]);
    const builder = new SessionBuilder(input, {
      source: "opencode",
      sourceId: id,
      sourceVersion: textOf(info["version"]),
      folders: [info["directory"], ...folders],
      startedAt: member(info, "time")["created"] ?? messages.map(createdMs)[0],
      startedBy: textOf(info["parentID"]),
      forkOf: input.forkedFrom,
      issues: [...(input.issues ?? []), ...issues],
    });
    this.#builder = builder;
    this.#writer = new MessageWriter(builder, textOf(info["projectID"]) ?? "");
    builder.counts.records = messages.reduce((sum, { parts }) => sum + 1 + parts.length, 0);
    if (textOf(info["parentID"]) !== undefined) {
      const link = subagentLink({ agentId: id, toolCallId: input.toolCallId, role: textOf(info["agent"]) });
      builder.addBehind(`opencode agent ${id}`, undefined, link);
    }
    const title = textOf(info["title"]);
    if (title !== undefined && !UNNAMED.test(title)) builder.addName(`opencode name ${title}`, title);
  }

  run(): ImportedSession {
    for (const message of this.#messages) {
      const before = this.#clearBefore(message);
      this.#states.set(message, this.#emit(message, before));
    }
    const end = this.#clearBefore(undefined);
    this.#builder.markLeaf((this.#revertedTo() ?? end).last);
    return this.#builder.finish();
  }

  /** Returns the state in which the program goes on, if the user has reverted the messages behind it. */
  #revertedTo(): MessageState | undefined {
    const { messageID, partID } = member(this.#info, "revert");
    const from = this.#messages.find(({ info }) => info["id"] === messageID);
    if (from === undefined) return undefined;
    return this.#stateOf(partID === undefined ? from.parent : from);
  }

  #stateOf(message: StoredMessage | undefined): MessageState {
    return (message && this.#states.get(message)) ?? START;
  }

  /** Adds the edits of the context that precede a message, or the end; returns the state in front of it. */
  #clearBefore(message: StoredMessage | undefined): MessageState {
    const parent = message === undefined ? this.#messages.findLast((one) => !one.isDeleted) : message.parent;
    const state = this.#stateOf(parent);
    if (message?.isDeleted === true) return state;
    const beforeMs = message === undefined ? Number.POSITIVE_INFINITY : createdMs(message);
    const last = this.#writer.clearOutputs(state.last, beforeMs);
    const cleared = { ...state, last };
    if (parent !== undefined) this.#states.set(parent, cleared);
    return cleared;
  }

  #emit(message: StoredMessage, before: MessageState): MessageState {
    const { info } = message;
    const summary = this.#summaries.get(message);
    if (summary !== undefined) return this.#emitCompaction(message, summary, before);
    if (message.parent !== undefined && this.#summaries.get(message.parent) === message) return before;
    const made =
      info["role"] === "assistant"
        ? this.#writer.addAnswer(message, before.last)
        : this.#writer.addPrompt(message, before.last);
    const { totalTokens } = usageOfTokens(member(info, "tokens"));
    return { ...made, contextTokens: totalTokens || before.contextTokens };
  }

  #emitCompaction(asked: StoredMessage, summary: StoredMessage, state: MessageState): MessageState {
    const part = fieldsOf(asked.parts.find(isCompaction));
    const kept = this.#messages.find(({ info }) => info["id"] === part["tail_start_id"]);
    const key = this.#writer.keyOf(asked);
    const { cost, tokens } = summary.info;
    const draft = this.#builder.add(key, state.last, createdMs(asked), {
      type: "compaction",
      summary: summaryIn(summary),
      firstKeptEntryId: this.#stateOf(kept).first?.id,
      tokensBefore: state.contextTokens,
      details: { source: "opencode", trigger: part["auto"] === true ? "auto" : "manual" },
      usage: usageOfTokens(fieldsOf(tokens), cost),
    });
    // While it was being written, it was an answer like any other, to a message with a part like any other.
    const before = [this.#writer.keyOf(summary), ...asked.parts.map((_, n) => partKey(key, n))];
    for (const one of before) this.#builder.withdraw(entryIdOf(one));
    return { first: draft, last: draft, contextTokens: 0 };
  }
}

function isCompaction({ type }: JsonRecord): boolean {
  return type === "compaction";
}

function summaryIn({ parts }: StoredMessage): string {
  return textIn(parts.filter(({ type }) => type === "text"));
}

/** Finds the summaries that were written to their end, and the messages that asked for them. */
function summariesIn(messages: readonly StoredMessage[]): Map<StoredMessage, StoredMessage> {
  const summaries = new Map<StoredMessage, StoredMessage>();
  for (const message of messages) {
    const { summary, finish, error } = message.info;
    const asked = message.parent;
    if (summary !== true || finish === undefined || error !== undefined) continue;
    if (asked?.parts.some(isCompaction) === true && summaryIn(message) !== "") summaries.set(asked, message);
  }
  return summaries;
}
