import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type ContinuedSession, findContinuedSession } from "../continued-session.ts";
import { joinContentText, type SourceRecord, toNonemptyText } from "../source-text.ts";
import { findCallResult, getSentResponses, isAside } from "./parts.ts";

/** A message or a compaction, with its parent. */
export interface LogNode {
  /** Unique key in the session: the message's id, plus a number if the id was used before. */
  readonly key: string;
  /** Latest version of the message or, for a compaction, of its summary. */
  message: JsonRecord;
  readonly parent: LogNode | undefined;
  readonly isCompaction: boolean;
  /** First message that remains in the context after a compaction. */
  readonly firstKept: LogNode | undefined;
  /** Whether the message already occurred under another key, where its tokens are counted. */
  readonly isCopy: boolean;
}

const SNAPSHOT = "<state_snapshot>";

/**
 * Applies the patches in the files of a Gemini CLI session. Removed messages remain as branches.
 *
 * If a message in a later file follows the same messages as before, it is the same message. Messages that follow different
 * messages in a later file form a branch. A file that does not repeat any messages continues at the end of the previous file.
 *
 * @param files - Records of each file, in order.
 */
export function applyPatches(files: readonly (readonly SourceRecord[])[]): PatchLog {
  const log = new PatchLog();
  for (const records of files) {
    log.beginFile();
    for (const record of records) log.take(record);
  }
  return log;
}

/** Messages of a session after its patches were applied. */
class PatchLog {
  /** Fields of the session, such as `sessionId`, `startTime`, and `summary`. */
  readonly metadata: JsonRecord = {};
  /** In order of arrival. */
  readonly nodes: LogNode[] = [];
  readonly unknown: SourceRecord[] = [];
  /** Number of records that are newer versions of a message. */
  replaced = 0;
  /** Number of messages that arrived in lists rather than as separate records. */
  listed = 0;
  /** Number of messages that Gemini CLI itself added after a summary, as if the model had thanked the user for the summary. */
  thanks = 0;
  /** Number of records that repeat tool results of an earlier answer. */
  repeated = 0;
  /** Sessiontree session that this session continues. */
  continued: ContinuedSession | undefined;
  /** Ids of the messages that were copied from that session. */
  readonly copiedIds = new Set<unknown>();
  /** Current state of the session. */
  #current: LogNode[] = [];
  #byId = new Map<unknown, LogNode>();
  readonly #keys = new Map<string, number>();
  /** Messages from earlier files, by parent. */
  #earlier: ReadonlyMap<LogNode | undefined, LogNode[]> = new Map();
  /** Messages from the previous file, until the first message of the next file shows whether it repeats them. */
  #resumable: LogNode[] = [];

  /** Last message in the session's current state. */
  get tip(): LogNode | undefined {
    return this.#current.at(-1);
  }

  /** Begins the next file. Its messages are compared with the messages of the previous files. */
  beginFile(): void {
    this.#earlier = groupBy(this.nodes, ({ parent }) => parent);
    this.#resumable = this.#current;
    this.#goTo([]);
  }

  take(record: SourceRecord): void {
    const { value } = record;
    const rewind = toNonemptyText(value["$rewindTo"]);
    const patch = value["$set"];
    const continued = findContinuedSession(value);
    if (continued !== undefined) this.#continue(continued);
    else if (rewind !== undefined) this.#rewind(rewind);
    else if (toNonemptyText(value["id"]) !== undefined) this.#put(value);
    else if (patch !== undefined) this.#patch(toRecord(patch));
    else if (toNonemptyText(value["sessionId"]) !== undefined) this.#patch(value);
    else this.unknown.push(record);
  }

  #continue(continued: ContinuedSession): void {
    this.continued = continued;
    for (const { message } of this.nodes) this.copiedIds.add(message["id"]);
  }

  #patch(patch: JsonRecord): void {
    const { messages, ...fields } = patch;
    Object.assign(this.metadata, fields);
    if (Array.isArray(messages)) this.#checkpoint(toArray(messages).map(toRecord));
  }

  #rewind(id: string): void {
    const at = this.#current.findIndex(({ message }) => message["id"] === id);
    this.#goTo(this.#current.slice(0, Math.max(0, at)));
  }

  #goTo(nodes: LogNode[]): void {
    this.#current = nodes;
    const messages = nodes.filter(({ isCompaction }) => !isCompaction);
    this.#byId = new Map(messages.map((node) => [node.message["id"], node]));
  }

  #put(message: JsonRecord): void {
    const answer = this.#current.findLast((node) => node.message["type"] === "gemini");
    if (isRepeatingResults(message, answer?.message)) this.repeated++;
    else if (!this.#update(message)) this.#add(message, {});
  }

  #add(message: JsonRecord, options: Partial<Pick<LogNode, "isCompaction" | "firstKept" | "isCopy">>): void {
    if (this.#reuse(message)) return;
    const id = toNonemptyText(message["id"]) ?? `message ${this.nodes.length}`;
    const times = this.#keys.get(id) ?? 0;
    this.#keys.set(id, times + 1);
    const node: LogNode = {
      key: times === 0 ? id : `${id} ${times}`,
      message,
      parent: this.tip,
      isCompaction: options.isCompaction ?? false,
      firstKept: options.firstKept,
      isCopy: options.isCopy ?? times > 0,
    };
    this.nodes.push(node);
    this.#current.push(node);
    if (!node.isCompaction) this.#byId.set(message["id"], node);
  }

  /** Reuses the message at the same position in an earlier file, or updates an older version. Returns false if it is new. */
  #reuse(message: JsonRecord): boolean {
    const known = this.#earlier.get(this.tip)?.find((node) => node.message["id"] === message["id"]);
    if (known === undefined) {
      if (this.#current.length === 0 && this.#resumable.length > 0) this.#goTo(this.#resumable);
      this.#resumable = [];
      return this.#update(message);
    }
    this.#resumable = [];
    this.#current.push(known);
    if (!known.isCompaction) this.#byId.set(message["id"], known);
    known.message = message;
    this.replaced++;
    return true;
  }

  /** Replaces the older version of a message. Returns false if there is none. */
  #update(message: JsonRecord): boolean {
    const known = this.#byId.get(message["id"]);
    if (known === undefined) return false;
    known.message = message;
    this.replaced++;
    return true;
  }

  /** Applies a message list that replaces the session. Such lists do not contain notes and may repeat a summary. */
  #checkpoint(listed: readonly JsonRecord[]): void {
    let answer: JsonRecord | undefined;
    const told = listed.filter((message) => {
      if (message["type"] === "gemini") answer = message;
      return !isRepeatingResults(message, answer);
    });
    const summaries = this.#current
      .filter(({ isCompaction }) => isCompaction)
      .map(({ message }) => message["id"]);
    const known = told.findIndex(({ id }) => summaries.includes(id));
    const following = known === -1 ? told : withoutThanks(told.slice(known + 1));
    const messages = this.continued === undefined ? following : this.#withCopiesFirst(following);
    let [same, end] = [0, 0];
    for (const node of this.#current) {
      const message = messages[same];
      const isSame = !node.isCompaction && message !== undefined && node.message["id"] === message["id"];
      if (!isSame && !node.isCompaction && !isNote(node)) break;
      if (isSame && !isNote(node)) node.message = message;
      if (isSame) same++;
      end++;
    }
    const rest = messages.slice(same);
    const [before, replaced] = [this.nodes.length, this.replaced];
    const [summary] = rest;
    if (summary !== undefined && joinContentText(summary["content"]).includes(SNAPSHOT))
      this.#compact(summary, rest.slice(1));
    else {
      this.#goTo(this.#current.slice(0, end));
      for (const message of rest) this.#add(message, {});
    }
    this.listed += this.nodes.length - before + this.replaced - replaced;
  }

  /** Moves the notes that Gemini CLI inserts before copied messages when it resumes, so that they follow all known messages. */
  #withCopiesFirst(messages: readonly JsonRecord[]): readonly JsonRecord[] {
    const start = messages.findIndex(({ id }) => this.copiedIds.has(id));
    const front = messages.slice(0, Math.max(0, start));
    if (!front.every(isAside)) return messages;
    const rest = messages.slice(front.length);
    const end = rest.findLastIndex(({ id }) => this.#byId.has(id)) + 1;
    const notes = front.filter(({ id }) => !this.#byId.has(id));
    return [...rest.slice(0, end), ...notes, ...rest.slice(end)];
  }

  /** Applies a list that begins with a summary of the history. The summary follows the entire history. */
  #compact(summary: JsonRecord, following: readonly JsonRecord[]): void {
    const kept = withoutThanks(following);
    this.thanks += following.length - kept.length;
    const start = this.#current.length - kept.length;
    const tail = this.#current.slice(Math.max(0, start));
    const isTail = start >= 0 && kept.every((message, i) => tail[i]?.message["id"] === message["id"]);
    this.#add(summary, { isCompaction: true, ...(isTail && { firstKept: tail[0] }) });
    const compaction = this.tip;
    if (compaction === undefined) return;
    this.#goTo(isTail ? [...tail, compaction] : [compaction]);
    if (!isTail) for (const message of kept) this.#add(message, {});
  }
}

/** Returns whether a message is a note from Gemini CLI rather than part of the conversation. */
function isNote({ message }: LogNode): boolean {
  const { type } = message;
  return type === "user" ? isAside(message) : type !== "gemini";
}

/** Returns whether a message contains only tool results that an answer already contains. */
function isRepeatingResults(message: JsonRecord, answer: JsonRecord | undefined): boolean {
  if (message["type"] !== "user" || answer === undefined) return false;
  const responses = getSentResponses(message["content"]);
  const calls = toArray(answer["toolCalls"]).map(toRecord);
  return (
    responses.length > 0 &&
    responses.length === toArray(message["content"]).length &&
    responses.every(({ id, name }) =>
      calls.some(
        (call) =>
          (id === undefined ? call["name"] === name : call["id"] === id) &&
          findCallResult(call) !== undefined,
      ),
    )
  );
}

/** Returns the messages after a summary, excluding a first message that only acknowledges the summary. */
function withoutThanks(messages: readonly JsonRecord[]): readonly JsonRecord[] {
  const [first] = messages;
  const isThanks = first?.["type"] === "gemini" && joinContentText(first["content"]).startsWith("Got it.");
  return isThanks ? messages.slice(1) : messages;
}
