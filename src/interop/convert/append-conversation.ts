import { convertToLlm } from "../../core/context/convert-to-llm.ts";
import { toArray, toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { sessionEntryToContextMessages } from "../../core/context/project-entry.ts";
import type { SessionProjection } from "../../core/context/session-context.ts";
import {
  foldSystemMessages,
  INSTRUCTIONS_SECTION,
  joinSystemText,
} from "../../core/context/system-message.ts";
import { isMadeResult, quoteLateResult } from "../../core/context/tool-pairs.ts";
import { isUnfinished } from "../../core/context/unfinished-answer.ts";
import { assertSession } from "../../core/format/arguments.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../core/format/json.ts";
import type { AgentMessage, Message, SystemMessage } from "../../core/format/message.ts";
import { getRedactedIds } from "../../core/format/redaction.ts";
import { assertMessageList } from "./message-history.ts";
import { isSameJson, STATE_DETAIL } from "./raw-form.ts";
import { getCallId } from "./tool-ids.ts";
import { toWellFormedMessage } from "./well-formed-message.ts";

/** Session methods required by `appendConversation`. `SessionManager` has them. */
export interface ConversationSession {
  getLeafId(): string | null;
  getBranch(fromId?: string): SessionEntry[];
  getChildren(parentId: string | null): SessionEntry[];
  buildSessionProjection(): SessionProjection;
  appendMessage(message: Message): string;
  branch(entryId: string): void;
  resetLeaf(): void;
  /** Returns all entries, used to find redactions. Without it, only redactions on the path are considered. */
  getEntries?(): SessionEntry[];
  /** Returns all entries of a type, for the same purpose, but reads fewer bodies. */
  walk?(fromId: undefined, options: { type: string }): Iterable<SessionEntry>;
}

/** Result of `appendConversation`. */
export interface AppendedConversation {
  /** Ids of the new entries, in order; empty if no entries were added. */
  readonly entryIds: string[];
  /** Number of messages that the session already contained, not counting leading instructions. */
  readonly matched: number;
  /** Whether the leaf moved, for example because an older message was changed. */
  readonly hasBranched: boolean;
}

/** Entry and its messages for a model. */
interface Step {
  readonly entry: SessionEntry;
  readonly messages: readonly Message[];
}

/** Rules for matching stored messages with messages in an array when content alone is not sufficient. */
export interface Sameness {
  /** Returns whether a stored message with redacted content may be the given message in the array. */
  mayBeSame(entry: SessionEntry, input: Message): boolean;
  /** Returns whether the stored originals of two messages with the same content belong to the same message. */
  hasSameOriginal(entry: SessionEntry, stored: Message, input: Message): boolean;
}

const BY_CONTENT: Sameness = {
  mayBeSame: () => true,
  hasSameOriginal: (_, stored, input) => hasSameOriginal(stored, input),
};

/** Message in the array and its entry, linked to the messages found before it. */
interface Found {
  readonly at: number;
  readonly entry: SessionEntry;
  readonly before: Found | undefined;
}

/** Position in the array while following a path. */
interface Walk {
  /** Number of messages already processed. */
  readonly passed: number;
  /** Indexes of processed results that have not occurred on the path yet but may occur later. */
  readonly missing: readonly number[];
  readonly found: Found | undefined;
  readonly lostCalls: LostCalls;
}

/** Part of the array that a session already contains. */
interface Match extends Walk {
  /** Id of the entry to continue from; null to continue before the first entry; undefined for the current leaf. */
  readonly parentId: string | null | undefined;
}

/** Returns the number of messages found. */
function countFound({ passed, missing }: Walk): number {
  return passed - missing.length;
}

/**
 * Appends the new part of a conversation that the host keeps as a complete array. Idempotent.
 *
 * Compares the array with the messages on the path, by content. If an older message was changed, regenerated, or removed,
 * the leaf moves to the last common message, or to a branch that already contains the same messages; nothing is lost.
 * Skips entries that an array cannot contain, such as labels, commands, and aborted answers. An array created from a
 * compacted context is compared with that context. New leading instructions replace earlier instructions without a
 * branch. A message that was redacted in the session matches the message at its position in the array, so that removed
 * content is not restored.
 *
 * @param session - A `SessionManager` in a file, in memory, or in a store.
 * @param messages - Complete conversation, such as `fromAnthropic(…).messages`.
 * @throws {SessionError} `WRITE_FAILED`. Appended entries remain, and the next call continues after them.
 * @remarks Cost: O(path + messages). Source: docs/messages.md#arrays-of-messages
 */
export function appendConversation(
  session: ConversationSession,
  messages: readonly Message[],
): AppendedConversation {
  assertSession(session);
  assertMessageList(messages);
  const { entries: _, ...appended } = appendMatching(session, messages, BY_CONTENT);
  return appended;
}

/**
 * Works like `appendConversation`, with additional rules for matching messages.
 *
 * @returns Also contains the entries of the messages that the session already contained.
 */
export function appendMatching(
  session: ConversationSession,
  messages: readonly Message[],
  sameness: Sameness,
): AppendedConversation & { readonly entries: ReadonlyMap<Message, SessionEntry> } {
  const first = messages.findIndex(({ role }) => role !== "system");
  const instructions = messages.slice(0, first === -1 ? messages.length : first).filter(isSystem);
  const said = messages.slice(instructions.length);
  const match = new Matcher(session, said, sameness).find();
  const { passed, missing, parentId } = match;
  const hasBranched = parentId !== undefined && parentId !== session.getLeafId();
  if (hasBranched && parentId === null) session.resetLeaf();
  else if (hasBranched && typeof parentId === "string") session.branch(parentId);
  const entryIds = appendInstructions(session, instructions);
  const added = said.filter((_, at) => at >= passed || missing.includes(at));
  const storedIds = listStoredCallIds(session, added);
  for (const message of added) entryIds.push(session.appendMessage(withStoredId(message, storedIds)));
  return { entryIds, matched: countFound(match), hasBranched, entries: listEntries(match, said) };
}

function listEntries({ found }: Match, said: readonly Message[]): Map<Message, SessionEntry> {
  const entries = new Map<Message, SessionEntry>();
  for (let one = found; one !== undefined; one = one.before) {
    const message = said[one.at];
    if (message !== undefined) entries.set(message, one.entry);
  }
  return entries;
}

/** Returns the ids of the calls on the path, latest first; empty if the added messages do not begin with a result. */
function listStoredCallIds(session: ConversationSession, added: readonly Message[]): string[] {
  if (added[0]?.role !== "toolResult") return [];
  const messages = session.getBranch().flatMap((entry) => toStep(entry).messages);
  return messages.flatMap(getCallIds).reverse();
}

function getCallIds(message: Message): string[] {
  if (message.role !== "assistant") return [];
  // A block may be any value in a file that another program wrote.
  const blocks = toArray(message.content).filter(isJsonRecord);
  return blocks.flatMap(({ type, id }) => (type === "toolCall" && typeof id === "string" ? [id] : []));
}

/** Returns a result with the id that its call has in the session. */
function withStoredId(message: Message, storedIds: readonly string[]): Message {
  if (message.role !== "toolResult" || storedIds.includes(message.toolCallId)) return message;
  const toolCallId = storedIds.find((id) => isSameCallId(id, message.toolCallId));
  return toolCallId === undefined ? message : { ...message, toolCallId };
}

function isSystem(message: AgentMessage): message is SystemMessage {
  return message.role === "system";
}

function appendInstructions(session: ConversationSession, input: readonly SystemMessage[]): string[] {
  const text = joinSystemText(input);
  if (text === "") return [];
  const inForce = session.buildSessionProjection().messages.filter(isSystem);
  const section = foldSystemMessages(inForce, 0)?.sections?.[INSTRUCTIONS_SECTION];
  if (section === text || joinSystemText(inForce) === text) return [];
  const timestamp = input.at(-1)?.timestamp ?? 0;
  const details = input.findLast((message) => message.details !== undefined)?.details;
  const sections = { [INSTRUCTIONS_SECTION]: text };
  return [
    session.appendMessage({
      role: "system",
      content: "",
      sections,
      ...(details !== undefined && { details }),
      timestamp,
    }),
  ];
}

/**
 * Finds the position in a session that matches the most messages in the array: on its path, in its context, or on
 * another branch.
 */
class Matcher {
  readonly #session: ConversationSession;
  readonly #said: readonly Message[];
  readonly #sameness: Sameness;
  #redactedIds: ReadonlySet<string> | undefined;

  constructor(session: ConversationSession, said: readonly Message[], sameness: Sameness) {
    this.#session = session;
    this.#said = said;
    this.#sameness = sameness;
  }

  find(): Match {
    const session = this.#session;
    const branch = session.getBranch();
    const getParent = (entry: SessionEntry) => {
      const at = branch.findIndex(({ id }) => id === entry.id);
      return branch[at - 1]?.id ?? null;
    };
    const path = this.#matchSteps(branch.map(toStep), getParent);
    if (countFound(path) === this.#said.length) return path;
    const projected = session.buildSessionProjection().entries.map(({ sourceEntry, messages }) => ({
      entry: sourceEntry,
      messages: convertToLlm(messages),
    }));
    const context = this.#matchSteps(projected, getParent);
    const best = countFound(context) > countFound(path) ? context : path;
    if (countFound(best) === this.#said.length) return best;
    const elsewhere = this.#searchTree();
    return countFound(elsewhere) > countFound(best) ? elsewhere : best;
  }

  #matchSteps(steps: readonly Step[], getParent: (entry: SessionEntry) => string | null): Match {
    let walk = START;
    for (const step of steps) {
      const next = this.#walkOn(walk, step);
      if (next === undefined) return { ...walk, parentId: getParent(step.entry) };
      walk = next;
    }
    return { ...walk, parentId: undefined };
  }

  /** Continues a walk with an entry; undefined if the array does not match there. */
  #walkOn(walk: Walk, step: Step): Walk | undefined {
    const next = this.#matchStep(step, walk) ?? (mayPass(step, walk.lostCalls) ? walk : undefined);
    return next && { ...next, lostCalls: addLostCalls(step, walk.lostCalls) };
  }

  #matchStep({ entry, messages }: Step, walk: Walk): Walk | undefined {
    const [first] = messages;
    if (first === undefined) return undefined;
    if (messages.length === 1 && first.role === "toolResult") return this.#matchResult(entry, first, walk);
    const said = this.#said;
    const { passed } = walk;
    const results = endOfResults(said, passed);
    // Synthetic results and results stored later may be between other results.
    const start = [passed, skipMade(said, passed), results].find((at) =>
      messages.every((message, next) => this.#isSame(entry, message, said[at + next])),
    );
    if (start === undefined) return undefined;
    const missing = [...walk.missing, ...realResults(said, passed, start)];
    const found = messages.reduce<Found | undefined>(
      (before, _, next) => ({ at: start + next, entry, before }),
      walk.found,
    );
    return { ...walk, passed: start + messages.length, missing, found };
  }

  /** Finds a stored result among adjacent results in the array, whose order may differ. */
  #matchResult(entry: SessionEntry, stored: Message, walk: Walk): Walk | undefined {
    const { passed, missing } = walk;
    const end = endOfResults(this.#said, passed);
    // A late result may follow the results as user text.
    const next = Array.from({ length: end - passed + 1 }, (_, index) => passed + index);
    const at = [...missing, ...next].find((index) => this.#isSame(entry, stored, this.#said[index]));
    if (at === undefined) return undefined;
    const found = { at, entry, before: walk.found };
    if (at < passed) return { ...walk, found, missing: missing.filter((index) => index !== at) };
    const between = realResults(this.#said, passed, at);
    return { ...walk, found, passed: at + 1, missing: [...missing, ...between] };
  }

  #isSame(entry: SessionEntry, stored: Message, input: Message | undefined): boolean {
    if (input === undefined) return false;
    const isSame = hasSameContent(stored, input) && this.#sameness.hasSameOriginal(entry, stored, input);
    return isSame || this.#isRest(entry, stored, input);
  }

  /** Returns whether a stored message is the redacted form of a message in the array. */
  #isRest(entry: SessionEntry, stored: Message, input: Message): boolean {
    this.#redactedIds ??= findRedactedIds(this.#session);
    return (
      this.#redactedIds.has(entry.id) && isSameFrame(stored, input) && this.#sameness.mayBeSame(entry, input)
    );
  }

  /** Finds the branch that matches the most messages in the array. */
  #searchTree(): Match {
    let best: Match = { ...START, parentId: null };
    const open: { id: string | null; walk: Walk }[] = [{ id: null, walk: START }];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const entry of this.#session.getChildren(at.id)) {
        const walk = this.#walkOn(at.walk, toStep(entry));
        if (walk === undefined) continue;
        open.push({ id: entry.id, walk });
        if (countFound(walk) > countFound(best)) best = { ...walk, parentId: entry.id };
      }
    }
    return best;
  }
}

function findRedactedIds(session: ConversationSession): Set<string> {
  const entries = session.getEntries?.() ?? session.getBranch();
  return new Set(entries.flatMap(getRedactedIds));
}

/** Returns whether two messages have the same role and calls, regardless of other content. */
function isSameFrame(stored: Message, input: Message): boolean {
  if (stored.role === "toolResult" && input.role === "toolResult")
    return isSameCallId(stored.toolCallId, input.toolCallId);
  const [ours, theirs] = [getCallIds(stored), getCallIds(input)];
  if (stored.role !== input.role || ours.length !== theirs.length) return false;
  return ours.every((id, at) => isSameCallId(id, theirs[at] ?? ""));
}

function toStep(entry: SessionEntry): Step {
  return { entry, messages: convertToLlm(sessionEntryToContextMessages(entry)) };
}

/** Returns the index after the results that begin at an index. */
function endOfResults(said: readonly Message[], start: number): number {
  let end = start;
  while (said[end]?.role === "toolResult") end++;
  return end;
}

/** Returns the indexes of results that are not synthetic. */
function realResults(said: readonly Message[], start: number, end: number): number[] {
  return said.slice(start, end).flatMap((message, at) => {
    return message.role === "toolResult" && !isMadeResult(message) ? [start + at] : [];
  });
}

/** Returns the index after synthetic results, which were added for a request and are not in the session. */
function skipMade(said: readonly Message[], matched: number): number {
  let at = matched;
  for (let next = said[at]; next?.role === "toolResult" && isMadeResult(next); next = said[at]) at++;
  return at;
}

/** Ids of calls in answers that requests omit together with their results. */
type LostCalls = ReadonlySet<unknown>;

const NONE_LOST: LostCalls = new Set();

const START: Walk = { passed: 0, missing: [], found: undefined, lostCalls: NONE_LOST };

/** Returns whether an entry on a path may be missing from an array. */
function mayPass({ entry }: Step, lostCalls: LostCalls): boolean {
  if (entry.type !== "message") return true;
  const { message } = entry;
  if (message.role === "toolResult") return lostCalls.has(message.toolCallId);
  if (message.role !== "assistant" && message.role !== "user") return true;
  // Requests omit unfinished answers and blank questions.
  return (
    isUnfinished(message) ||
    (message.details === undefined && toContentBlocks(message.content).every(isSilent))
  );
}

/** Updates the calls of omitted answers with a step. A later answer may reuse an id. */
function addLostCalls({ entry }: Step, lostCalls: LostCalls): LostCalls {
  if (entry.type !== "message" || entry.message.role !== "assistant") return lostCalls;
  const ids: unknown[] = toContentBlocks(entry.message.content).flatMap(
    (block) => toRecord(block)["id"] ?? [],
  );
  if (ids.length === 0) return lostCalls;
  if (isUnfinished(entry.message)) return new Set([...lostCalls, ...ids]);
  return ids.some((id) => lostCalls.has(id))
    ? new Set([...lostCalls].filter((id) => !ids.includes(id)))
    : lostCalls;
}

/** Returns whether a request omits a message that contains only this block. */
function isSilent(block: unknown): boolean {
  const { type, text } = toRecord(block);
  return type === "thinking" || (type === "text" && toSafeString(text).trim() === "");
}

/** Returns whether a stored message and a message in an array are the same, as far as the array allows a comparison. */
export function isSameMessage(stored: Message, input: Message): boolean {
  return hasSameContent(stored, input) && hasSameOriginal(stored, input);
}

/** Returns whether two messages have the same stored originals, comparing only forms that both messages have. */
export function hasSameOriginal(storedMessage: Message, inputMessage: Message): boolean {
  if (getSharedOriginals(storedMessage, inputMessage).length === 0) return true;
  const [stored, input] = [toWellFormedMessage(storedMessage), toWellFormedMessage(inputMessage)];
  return isSameJson(getSharedOriginals(stored, input), getSharedOriginals(input, stored));
}

/**
 * Returns whether a stored message and a message in an array have the same content.
 *
 * Ignores times, usage, signatures, blank text and thinking, `isError`, and calls in failed or aborted answers, which
 * arrays omit. Compares thinking, and images in failed results, only if the array's message contains them.
 */
function hasSameContent(storedMessage: Message, inputMessage: Message): boolean {
  // Requests do not contain lone surrogates, so arrays created from them do not either.
  const stored = toWellFormedMessage(storedMessage);
  const input = toWellFormedMessage(inputMessage);
  if (stored.role === "system" && input.role === "system")
    return joinSystemText([stored]) === joinSystemText([input]);
  // Requests represent a late result as user text.
  if (stored.role === "toolResult" && input.role === "user")
    return isSameMessage(quoteLateResult(stored), input);
  if (stored.role !== input.role) return false;
  if (stored.role === "toolResult" && input.role === "toolResult") {
    if (!isSameCallId(stored.toolCallId, input.toolCallId)) return false;
  }
  const types = new Set(listBlockFields(input).map(({ type }) => type));
  const ignored = new Set<unknown>();
  if (!types.has("thinking")) ignored.add("thinking");
  if (input.role === "toolResult" && input.isError && !types.has("image")) ignored.add("image");
  const lacking = new Set(isUnfinished(stored) ? [...ignored, "toolCall"] : ignored);
  return isSameSaid(listContent(stored, lacking), listContent(input, ignored));
}

/**
 * Returns whether an id in an array may refer to a stored call: unchanged, without OpenAI's item id, or with a number
 * appended, because requests rename a call that reuses an id.
 */
function isSameCallId(stored: string, input: string): boolean {
  if (input === stored || input === getCallId(stored)) return true;
  return input.startsWith(`${stored}_`) && /^\d+$/.test(input.slice(stored.length + 1));
}

/** Returns the content of a message, with consecutive text blocks joined and blank text blocks omitted. */
function listContent(message: Message, ignored: ReadonlySet<unknown>): unknown[] {
  // Forms with one string per result join multiple strings with line breaks.
  const separator = message.role === "toolResult" ? "\n" : "";
  const said: unknown[] = [];
  for (const { type, text, thinking, data, id, name, arguments: args } of listBlockFields(message)) {
    const last = said.at(-1);
    const isBlank =
      (type === "text" && toSafeString(text).trim() === "") || (type === "thinking" && thinking === "");
    if (isBlank || ignored.has(type)) continue;
    if (type === "text" && typeof last === "string")
      said.splice(-1, 1, last + separator + toSafeString(text));
    else if (type === "text") said.push(toSafeString(text));
    else said.push({ type, thinking, data, id, name, args });
  }
  return said;
}

function isSameSaid(stored: readonly unknown[], input: readonly unknown[]): boolean {
  return stored.length === input.length && stored.every((one, at) => isSameBlock(one, input[at]));
}

function isSameBlock(stored: unknown, input: unknown): boolean {
  const { id: storedId } = toRecord(stored);
  const { id: inputId } = toRecord(input);
  if (typeof storedId !== "string" || typeof inputId !== "string") return isSameJson(stored, input);
  if (!isSameCallId(storedId, inputId)) return false;
  return isSameJson({ ...toRecord(stored), id: "" }, { ...toRecord(input), id: "" });
}

function listBlockFields(message: AgentMessage): JsonRecord[] {
  return toContentBlocks(toRecord(message)["content"]).map(toRecord);
}

/** Returns the stored originals of a message in the forms that another message also has. */
function getSharedOriginals(message: object, other: object): unknown[] {
  const { details } = toRecord(message);
  const others = toRecord(toRecord(other)["details"]);
  return Object.entries(toRecord(details))
    .filter(([form]) => form !== STATE_DETAIL && others[form] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
