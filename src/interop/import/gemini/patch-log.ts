import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type ContinuedSession, findContinuedSession } from "../continued-session.ts";
import type { SourceRecord } from "../source-text.ts";
import { joinContentText, toNonemptyText } from "../source-text.ts";
import { findCallResult, getSentResponses, isAside } from "./parts.ts";

/** A message, or a compaction, with its parent. */
export interface LogNode {
  /** Unique in the session: the message's id, with a number if the id was used before. */
  readonly key: string;
  /** Latest version of the message; for a compaction, of its summary. */
  message: JsonRecord;
  readonly parent: LogNode | undefined;
  readonly isCompaction: boolean;
  /** For a compaction: the first message that remains in the context. */
  readonly firstKept: LogNode | undefined;
  /** Whether the message occurred before under another key, which counts its tokens. */
  readonly isCopy: boolean;
}

const SNAPSHOT = "<state_snapshot>";

/**
 * Applies the patches in the files of a Gemini CLI session, and keeps removed messages as branches.
 *
 * A message that a later file repeats after the same messages is the same message. Messages that a later file has after other
 * messages are a branch; if the file repeats none, it continues at the end of the previous file.
 *
 * @param files - Records of each file.
 */
export function applyPatches(files: readonly (readonly SourceRecord[])[]): PatchLog {
  const log = new PatchLog();
  for (const records of files) {
    log.beginFile();
    for (const record of records) log.take(record);
  }
  return log;
}

/** The messages of a session, after its patches. */
class PatchLog {
  /** Fields of the session: `sessionId`, `startTime`, `summary` and others. */
  readonly metadata: JsonRecord = {};
  /** In order of arrival. */
  readonly nodes: LogNode[] = [];
  readonly unknown: SourceRecord[] = [];
  /** Records that are newer versions of a message. */
  replaced = 0;
  /** Number of messages that arrived in lists rather than as separate records. */
  listed = 0;
  /** Number of those that the program added after a summary as the model's thanks, which the model did not write. */
  thanks = 0;
  /** Number of records with results of tools that earlier calls also contain. */
  repeated = 0;
  /** The session of ours that this one continues. */
  continued: ContinuedSession | undefined;
  /** Ids of the messages that were copied from it. */
  readonly copiedIds = new Set<unknown>();
  /** Current state of the session. */
  #current: LogNode[] = [];
  #byId = new Map<unknown, LogNode>();
  readonly #keys = new Map<string, number>();
  /** Messages of earlier files, by the message that they follow. */
  #earlier: ReadonlyMap<LogNode | undefined, LogNode[]> = new Map();
  /** End of the previous file, until the first message of the next file shows whether it repeats that file. */
  #resumable: LogNode[] = [];

  /** The last message of the session's current state. */
  get tip(): LogNode | undefined {
    return this.#current.at(-1);
  }

  /** Begins the next file: its messages are compared with those of the previous files. */
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

  /** Reuses a message of an earlier file at the same position; else updates an older version. False if the message is new. */
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

  /** Replaces the older version of a message; false if there is none. */
  #update(message: JsonRecord): boolean {
    const known = this.#byId.get(message["id"]);
    if (known === undefined) return false;
    known.message = message;
    this.replaced++;
    return true;
  }

  /** Applies a list of messages that replaces the session; such lists lack notes, and may repeat a summary. */
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

  /** Moves the notes that the program inserts before copied messages on resuming to after all known messages. */
  #withCopiesFirst(messages: readonly JsonRecord[]): readonly JsonRecord[] {
    const start = messages.findIndex(({ id }) => this.copiedIds.has(id));
    const front = messages.slice(0, Math.max(0, start));
    if (!front.every(isAside)) return messages;
    const rest = messages.slice(front.length);
    const end = rest.findLastIndex(({ id }) => this.#byId.has(id)) + 1;
    const notes = front.filter(({ id }) => !this.#byId.has(id));
    return [...rest.slice(0, end), ...notes, ...rest.slice(end)];
  }

  /** Applies a list that begins with a summary of the history: it continues after the whole history. */
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

/** Returns whether a message is a note of the program to the user, or precedes a prompt. */
function isNote({ message }: LogNode): boolean {
  const { type } = message;
  return type === "user" ? isAside(message) : type !== "gemini";
}

/** Returns whether a message only has results of calls that an answer already contains with their results. */
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

/** Returns the messages after a summary, without a first one that acknowledges it. */
function withoutThanks(messages: readonly JsonRecord[]): readonly JsonRecord[] {
  const [first] = messages;
  const isThanks = first?.["type"] === "gemini" && joinContentText(first["content"]).startsWith("Got it.");
  return isThanks ? messages.slice(1) : messages;
}
