import { toRecord } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { type EntryBody, makeCustom, makeCustomMessage, makeSubagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type BuilderInput, type Draft, makeEntryId, SessionBuilder } from "../session-builder.ts";
import { getMember, joinContentText, toNonemptyText } from "../source-text.ts";
import {
  CLEARED_OUTPUT,
  convertTokens,
  getSourceCallId,
  isOnlyNamed,
  readResult,
  readStep,
  splitSteps,
  toFileBlock,
} from "./parts.ts";
import {
  type Continuation,
  type DeletedMessage,
  getCreatedMs,
  isExported,
  readContinuation,
  readMessages,
  type StoredMessage,
} from "./stored-messages.ts";

/** An OpenCode session. */
export interface OpenCodeInput extends Omit<BuilderInput, "cwd"> {
  /** Parsed output of `opencode export`: `{ info, messages: [{ info, parts }] }`. */
  readonly document: unknown;
  /** Messages that are no longer in the document. */
  readonly deleted?: readonly DeletedMessage[];
  /** Id of the session that this session was forked from. OpenCode does not store it. */
  readonly forkedFrom?: string;
  /** Document of that session. It may contain the record that identifies the continued sessiontree session. */
  readonly original?: unknown;
  /** Id of the parent's call that started this session as a subagent. */
  readonly toolCallId?: string;
  /** Issues found when the source was read. */
  readonly issues?: readonly SessionIssue[];
}

/**
 * Converts an OpenCode 1 session.
 *
 * Reverted messages become a branch. A compaction contains the context that OpenCode sent from that point on. Ids are derived
 * from data that a fork copies, so that the fork's entries have the same ids as the original's.
 *
 * @returns The session; undefined if the document contains no conversation.
 * @throws {SessionError} `NOT_A_SESSION` if the messages have the format of a newer OpenCode version.
 * @remarks Cost: O(messages and parts). Source: docs/import-records.md#opencode
 */
export function importOpenCode(input: OpenCodeInput): ImportedSession | undefined {
  const { messages, issues } = readMessages(input.document, input.deleted ?? []);
  const info = getMember(toRecord(input.document), "info");
  if (messages.length === 0 && issues.length > 0) throw makeNewerVersionError(input.path);
  if (!messages.some(isSaid)) return undefined;
  return new OpenCodeImport(input, info, messages, issues).run();
}

/** Returns the error for sessions in an unsupported format. */
export function makeNewerVersionError(path = "It"): SessionError {
  const message = `${path} contains messages in the format of OpenCode 2, which this version of sessiontree cannot read. Only OpenCode 1 sessions can be imported.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path, source: "opencode" } });
}

function isSaid({ info }: StoredMessage): boolean {
  return info["role"] === "user" || info["role"] === "assistant";
}

/** State of a session after a message. */
interface MessageState {
  /** First entry of the message, and the last entry so far; undefined if there is none. */
  readonly first: Draft | undefined;
  readonly last: Draft | undefined;
  /** Size of the context according to the last answer, in tokens. */
  readonly contextTokens: number;
}

const START: MessageState = { first: undefined, last: undefined, contextTokens: 0 };

/** Pattern for the titles that OpenCode assigns to new sessions. */
const UNNAMED = /^(?:New|Child) session - \d{4}-/;

class OpenCodeImport {
  readonly #info: JsonRecord;
  readonly #messages: readonly StoredMessage[];
  readonly #builder: SessionBuilder;
  readonly #writer: MessageWriter;
  readonly #states = new Map<StoredMessage, MessageState>();
  readonly #summaries: ReadonlyMap<StoredMessage, StoredMessage>;
  readonly #continuation: Continuation | undefined;

  constructor(
    input: OpenCodeInput,
    info: JsonRecord,
    messages: readonly StoredMessage[],
    issues: readonly SessionIssue[],
  ) {
    this.#info = info;
    this.#messages = messages;
    this.#continuation = readContinuation(input.document) ?? readContinuation(input.original);
    this.#summaries = findSummaries(messages);
    const id = toNonemptyText(info["id"]) ?? "unknown";
    const folders = messages.map((message) => getMember(message.info, "path")["cwd"]);
    const builder = new SessionBuilder(input, {
      source: "opencode",
      sourceId: id,
      sourceVersion: toNonemptyText(info["version"]),
      folders: [info["directory"], ...folders],
      startedAt: getMember(info, "time")["created"] ?? messages.map(getCreatedMs)[0],
      startedBy: toNonemptyText(info["parentID"]),
      forkOf: input.forkedFrom,
      issues: [...(input.issues ?? []), ...issues],
    });
    this.#builder = builder;
    this.#writer = new MessageWriter(builder, toNonemptyText(info["projectID"]) ?? "");
    builder.counts.records = messages.reduce((sum, { parts }) => sum + 1 + parts.length, 0);
    if (toNonemptyText(info["parentID"]) !== undefined) {
      const link = makeSubagentLink({
        agentId: id,
        toolCallId: input.toolCallId,
        role: toNonemptyText(info["agent"]),
      });
      builder.addBehind(`opencode agent ${id}`, undefined, link);
    }
    const title = toNonemptyText(info["title"]);
    if (title !== undefined && !UNNAMED.test(title)) builder.addName(`opencode name ${title}`, title);
  }

  run(): ImportedSession {
    if (this.#continuation !== undefined) this.#builder.continueSession(this.#continuation.session);
    for (const message of this.#messages) {
      const before = this.#clearBefore(message);
      this.#states.set(message, this.#emit(message, before));
      if (this.#continuation !== undefined && isExported(message, this.#continuation))
        this.#builder.continueSession(this.#continuation.session);
    }
    const end = this.#clearBefore(undefined);
    this.#builder.markLeaf((this.#revertedTo() ?? end).last);
    return this.#builder.finish();
  }

  /** Returns the state at which OpenCode would continue, if the user has reverted the messages after it. */
  #revertedTo(): MessageState | undefined {
    const { messageID, partID } = getMember(this.#info, "revert");
    const from = this.#messages.find(({ info }) => info["id"] === messageID);
    if (from === undefined) return undefined;
    return this.#getMessageState(partID === undefined ? from.parent : from);
  }

  #getMessageState(message: StoredMessage | undefined): MessageState {
    return (message && this.#states.get(message)) ?? START;
  }

  /** Adds the context edits that precede a message or the end of the session. Returns the state before the message. */
  #clearBefore(message: StoredMessage | undefined): MessageState {
    const parent = message === undefined ? this.#messages.findLast((one) => !one.isDeleted) : message.parent;
    const state = this.#getMessageState(parent);
    if (message?.isDeleted === true) return state;
    const beforeMs = message === undefined ? Number.POSITIVE_INFINITY : getCreatedMs(message);
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
    const { totalTokens } = convertTokens(getMember(info, "tokens"));
    return { ...made, contextTokens: totalTokens || before.contextTokens };
  }

  #emitCompaction(asked: StoredMessage, summary: StoredMessage, state: MessageState): MessageState {
    const part = toRecord(asked.parts.find(isCompaction));
    const kept = this.#messages.find(({ info }) => info["id"] === part["tail_start_id"]);
    const key = this.#writer.makeKey(asked);
    const { cost, tokens } = summary.info;
    const draft = this.#builder.add(key, state.last, getCreatedMs(asked), {
      type: "compaction",
      summary: getSummary(summary),
      firstKeptEntryId: this.#getMessageState(kept).first?.id,
      tokensBefore: state.contextTokens,
      details: { source: "opencode", trigger: part["auto"] === true ? "auto" : "manual" },
      usage: convertTokens(toRecord(tokens), cost),
    });
    // While the summary was being written, it looked like an ordinary answer to an ordinary message.
    const before = [this.#writer.makeKey(summary), ...asked.parts.map((_, n) => makePartKey(key, n))];
    for (const one of before) this.#builder.withdraw(makeEntryId(one));
    return { first: draft, last: draft, contextTokens: 0 };
  }
}

function isCompaction({ type }: JsonRecord): boolean {
  return type === "compaction";
}

function getSummary({ parts }: StoredMessage): string {
  return joinContentText(parts.filter(({ type }) => type === "text"));
}

/** Finds the completed summaries, by the messages that requested them. */
function findSummaries(messages: readonly StoredMessage[]): Map<StoredMessage, StoredMessage> {
  const summaries = new Map<StoredMessage, StoredMessage>();
  for (const message of messages) {
    const { summary, finish, error } = message.info;
    const asked = message.parent;
    if (summary !== true || finish === undefined || error !== undefined) continue;
    if (asked?.parts.some(isCompaction) === true && getSummary(message) !== "") summaries.set(asked, message);
  }
  return summaries;
}

/** Entries of a message; undefined if neither the message nor any message before it has entries. */
interface MessageEntries {
  readonly first: Draft | undefined;
  readonly last: Draft | undefined;
}

/** Types of parts that only mark the boundaries of a model call. */
const BOUNDARIES: ReadonlySet<unknown> = new Set(["step-start", "step-finish", "snapshot"]);

/** Text that OpenCode sends for a task that the user gave to a subagent. */
const SUBTASK = "The following tool was executed by the user";

/**
 * Beginnings of text that OpenCode itself adds. It also adds other text, such as the content of files that the user specified.
 */
const REMINDER = /^\s*<system-reminder>/;

/** Adds the entries for messages. */
class MessageWriter {
  readonly #builder: SessionBuilder;
  readonly #projectId: string;
  /** Outputs that OpenCode has cleared to save space. */
  #cleared: { readonly result: Draft; readonly timeMs: number }[] = [];
  /** Time when the first output was cleared, in Unix milliseconds. */
  #clearedMs = Number.POSITIVE_INFINITY;

  constructor(builder: SessionBuilder, projectId: string) {
    this.#builder = builder;
    this.#projectId = projectId;
  }

  /** Derives a message's key from data that a fork copies, because message ids differ in a fork. */
  makeKey({ info }: StoredMessage): string {
    const created = getCreatedMs({ info });
    const mark =
      created > 0 ? `${this.#projectId} ${toSafeString(info["role"])} ${created}` : toSafeString(info["id"]);
    return `opencode ${mark}`;
  }

  addPrompt(message: StoredMessage, before: Draft | undefined): MessageEntries {
    const key = this.makeKey(message);
    const time = getCreatedMs(message);
    const blocks = message.parts.map(toPromptBlock);
    const content = blocks.filter((block) => block !== undefined);
    const [only] = content;
    const position = blocks.findIndex((block) => block !== undefined);
    let [first, last]: (Draft | undefined)[] = [undefined, before];
    for (const [n, part] of message.parts.entries()) {
      if (n === position) {
        const said = content.length === 1 && only?.type === "text" ? only.text : content;
        last = this.#builder.addMessage(key, last, time, { role: "user", content: said });
        first ??= last;
      }
      const body = this.#makeNote(part, blocks[n]);
      if (body === undefined) continue;
      last = this.#builder.add(makePartKey(key, n), last, time, body);
      first ??= last;
    }
    return { first: first ?? before, last };
  }

  addAnswer(message: StoredMessage, before: Draft | undefined): MessageEntries {
    const { info, parts } = message;
    const key = this.makeKey(message);
    const steps = splitSteps(parts);
    let [first, last]: (Draft | undefined)[] = [undefined, before];
    for (const [n, step] of steps.entries()) {
      const answer = readStep(info, step, steps.length === 1);
      const { content, usage, errorMessage } = answer;
      const time = n === 0 ? getCreatedMs(message) : undefined;
      const stepKey = n === 0 ? key : `${key} step ${n}`;
      if (content.length > 0 || usage.totalTokens > 0 || errorMessage !== undefined) {
        last = this.#builder.addMessage(stepKey, last, time, answer);
        first ??= last;
      } else this.#builder.drop("answer without content");
      for (const part of step) last = this.#addBehindAnswer(stepKey, part, last, message);
      last = this.#addSnapshots(stepKey, step, last);
    }
    return { first: first ?? last, last };
  }

  /** Adds context edits for the outputs that were cleared before a time. Returns the last entry. */
  clearOutputs(after: Draft | undefined, timeMs: number): Draft | undefined {
    if (this.#clearedMs > timeMs) return after;
    let last = after;
    for (const one of this.#cleared) {
      if (one.timeMs > timeMs) continue;
      const { id } = one.result;
      const body = { type: "context_edit", targetId: id, replacement: { content: CLEARED_OUTPUT } };
      last = this.#builder.add(`opencode cleared ${id}`, last, one.timeMs, body);
    }
    this.#cleared = this.#cleared.filter((one) => one.timeMs > timeMs);
    this.#clearedMs = this.#cleared.reduce(
      (first, one) => Math.min(first, one.timeMs),
      Number.POSITIVE_INFINITY,
    );
    return last;
  }

  /** Adds an entry for a part that is not in the answer: a tool's result, or a part that a message cannot represent. */
  #addBehindAnswer(
    key: string,
    part: JsonRecord,
    last: Draft | undefined,
    { isDeleted }: StoredMessage,
  ): Draft | undefined {
    const { type, id } = part;
    if (BOUNDARIES.has(type)) this.#builder.drop("boundary of a call of the model");
    if (BOUNDARIES.has(type) || type === "text" || type === "reasoning" || type === "patch") return last;
    if (type !== "tool")
      return this.#builder.add(`${key} part ${toSafeString(id)}`, last, undefined, this.#keep(part));
    const result = readResult(part);
    if (result === undefined) return last;
    const { toolCallId } = result;
    const state = getMember(part, "state");
    const { end, compacted } = getMember(state, "time");
    const draft = this.#builder.addMessage(`${key} result ${getSourceCallId(part)}`, last, end, result);
    if (typeof compacted === "number" && !isDeleted) {
      this.#cleared.push({ result: draft, timeMs: compacted });
      this.#clearedMs = Math.min(this.#clearedMs, compacted);
    }
    const sessionId =
      part["tool"] === "task" ? toNonemptyText(getMember(state, "metadata")["sessionId"]) : undefined;
    if (sessionId === undefined) return draft;
    const link = makeSubagentLink({ agentId: sessionId, toolCallId, sessionId });
    return this.#builder.add(`${key} agent ${sessionId}`, draft, end, link);
  }

  /** Adds the file states before and after an answer. The ids refer to OpenCode's own snapshot store. */
  #addSnapshots(key: string, step: readonly JsonRecord[], last: Draft | undefined): Draft | undefined {
    const getTree = (type: string) =>
      toNonemptyText(step.find((part) => part["type"] === type)?.["snapshot"]);
    const [before, after] = [getTree("step-start"), getTree("step-finish")];
    const patches = step.filter(({ type }) => type === "patch");
    this.#builder.counts.kept += patches.length;
    if (patches.length === 0 && (after === undefined || before === after)) return last;
    const files = patches.flatMap(({ files }) => files);
    const data = { gitTreeBefore: before, gitTreeAfter: after, files };
    return this.#builder.add(`${key} snapshots`, last, undefined, makeCustom("opencode.snapshots", data));
  }

  /** Returns an additional entry for a part of a prompt; undefined if the message already contains the part unchanged. */
  #makeNote(part: JsonRecord, block: UserBlock | undefined): EntryBody | undefined {
    const { type, text, synthetic, ignored } = part;
    if (block?.type === "image" || (block !== undefined && type === "text")) return undefined;
    if (type === "text" && typeof text === "string" && ignored !== true) {
      if (text === "") this.#builder.drop("empty text");
      if (synthetic !== true || text === "") return undefined;
      if (!REMINDER.test(text)) return makeCustomMessage("opencode.synthetic", text, false);
      this.#builder.counts.kept++;
      return makeCustom("opencode.synthetic", { content: text });
    }
    if (type === "subtask") return makeCustomMessage("opencode.subtask", SUBTASK, false, getPartFields(part));
    return this.#keep(part);
  }

  #keep(part: JsonRecord): EntryBody {
    this.#builder.counts.kept++;
    return makeCustom(`opencode.${toNonemptyText(part["type"]) ?? "part"}`, getPartFields(part));
  }
}

/** Returns the entry key for a part of a prompt. */
function makePartKey(key: string, number: number): string {
  return `${key} part ${number}`;
}

/** Returns a part's fields, without its type and the ids of the part and its owners. */
function getPartFields({
  id: _,
  type: __,
  sessionID: ___,
  messageID: ____,
  ...fields
}: JsonRecord): JsonRecord {
  return fields;
}

function toPromptBlock(part: JsonRecord): UserBlock | undefined {
  const { type, text, synthetic, ignored } = part;
  if (type === "file") return isOnlyNamed(part) ? undefined : toFileBlock(part);
  const isSaid = type === "text" && typeof text === "string" && text !== "";
  return isSaid && synthetic !== true && ignored !== true ? { type, text } : undefined;
}
