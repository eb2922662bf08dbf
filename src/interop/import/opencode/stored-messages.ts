import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import {
  CONTINUED_SESSION_TYPE,
  type ContinuedSession,
  parseContinuedSession,
} from "../continued-session.ts";
import { getMember, makeLeftOutIssue, toNonemptyText } from "../source-text.ts";

/** A message that OpenCode deleted because the user continued from an earlier message. */
export interface DeletedMessage {
  /** `{ info, parts }`, as in an exported document. */
  readonly message: unknown;
  /** Sequence numbers of its creation and deletion, which increase from event to event. */
  readonly createdSeq: number;
  readonly deletedSeq: number;
}

/** A message with its parts, and the message that it followed when it was created. */
export interface StoredMessage {
  readonly info: JsonRecord;
  readonly parts: readonly JsonRecord[];
  readonly parent: StoredMessage | undefined;
  readonly isDeleted: boolean;
}

/** A message before its parent is known. */
interface ReadMessage extends Omit<StoredMessage, "parent"> {
  readonly createdSeq: number;
  readonly deletedSeq: number;
}

/** Returns a session's messages in order, and issues about invalid messages. */
export function readMessages(
  document: unknown,
  deleted: readonly DeletedMessage[],
): { messages: StoredMessage[]; issues: SessionIssue[] } {
  const issues: SessionIssue[] = [];
  // A redactor may have replaced different ids with the same id.
  const byIdAndTime = new Map<string, ReadMessage>();
  const take = (value: unknown, fate: Omit<ReadMessage, "info" | "parts">) => {
    const { info, parts } = toRecord(value);
    const id = toNonemptyText(toRecord(info)["id"]);
    if (!isJsonRecord(info) || id === undefined) {
      issues.push(makeLeftOutIssue("A message without an id was left out."));
      return;
    }
    const key = `${id} ${getCreatedMs({ info })}`;
    if (byIdAndTime.has(key))
      issues.push(makeLeftOutIssue(`The message ${id} occurs twice; the first one was imported.`));
    else byIdAndTime.set(key, { info, parts: toArray(parts).filter(isJsonRecord), ...fate });
  };
  for (const value of toArray(toRecord(document)["messages"]))
    take(value, { isDeleted: false, createdSeq: 0, deletedSeq: Number.POSITIVE_INFINITY });
  for (const { message, createdSeq, deletedSeq } of deleted)
    take(message, { isDeleted: true, createdSeq, deletedSeq });
  return { messages: withParents([...byIdAndTime.values()].sort(byCreation)), issues };
}

/** The sessiontree session that an OpenCode session continues, and which of its messages were copied. */
export interface Continuation {
  readonly session: ContinuedSession;
  /** Creation time of the last copied message, in Unix milliseconds. */
  readonly copiedUntilMs: number;
}

/** Reads a document's record of the sessiontree session that it continues; undefined if there is none. */
export function readContinuation(document: unknown): Continuation | undefined {
  const told = getMember(
    getMember(getMember(toRecord(document), "info"), "metadata"),
    CONTINUED_SESSION_TYPE,
  );
  const session = parseContinuedSession(told);
  return session && { session, copiedUntilMs: toNumber(told["copiedUntil"]) };
}

/** Returns whether a message was copied from the sessiontree session that its session continues. */
export function isExported(message: Pick<StoredMessage, "info">, { copiedUntilMs }: Continuation): boolean {
  return getCreatedMs(message) <= copiedUntilMs;
}

/** Returns the creation time of a message, in Unix milliseconds. */
export function getCreatedMs({ info }: Pick<StoredMessage, "info">): number {
  return toNumber(getMember(info, "time")["created"]);
}

function byCreation(one: ReadMessage, other: ReadMessage): number {
  const [id, otherId] = [toSafeString(one.info["id"]), toSafeString(other.info["id"])];
  return getCreatedMs(one) - getCreatedMs(other) || (id < otherId ? -1 : 1);
}

/** Finds each message's parent: the last earlier message that had not been deleted when the message was created. */
function withParents(ordered: readonly ReadMessage[]): StoredMessage[] {
  /** Possible parents of the next message. The last one is on top. */
  const line: { readonly message: StoredMessage; readonly deletedSeq: number }[] = [];
  return ordered.map(({ info, parts, isDeleted, createdSeq, deletedSeq }) => {
    // A message that still exists never follows a deleted one, regardless of their order.
    const isGone = (seq: number) => seq < (isDeleted ? createdSeq : Number.POSITIVE_INFINITY);
    while (line.length > 0 && isGone(line.at(-1)?.deletedSeq ?? 0)) line.pop();
    const message = { info, parts, isDeleted, parent: line.at(-1)?.message };
    line.push({ message, deletedSeq });
    return message;
  });
}

/** Counts the leading messages that two documents have in common. A fork copies everything except the ids. */
export function countSharedMessages(one: unknown, other: unknown): number {
  const [own, others] = [one, other].map((document) => readMessages(document, []).messages);
  let count = 0;
  for (const message of own ?? []) {
    const twin = others?.[count];
    if (twin === undefined || makeFingerprint(message) !== makeFingerprint(twin)) break;
    count++;
  }
  return count;
}

function makeFingerprint({ info, parts }: StoredMessage): string {
  const said = parts.flatMap(({ type, text, callID }) =>
    type === "text" ? [text] : (toNonemptyText(callID) ?? []),
  );
  return JSON.stringify([info["role"], getCreatedMs({ info }), said]);
}
