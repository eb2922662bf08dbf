import { getMessageFields, toRecord } from "../../../core/context/entry-fields.ts";
import { makeEntryPath } from "../../../core/context/entry-path.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { RESET_TYPE } from "../../../core/context/select-entries.ts";
import { type ProjectedSessionEntry, projectPath } from "../../../core/context/session-context.ts";
import { assertSession } from "../../../core/format/arguments.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { makeEntryNotFoundError } from "../../../core/format/errors.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import type { ConversationSession } from "../append-conversation.ts";
import { type Dialect, isSigned, USUAL_DIALECT } from "../dialect.ts";
import { planMessages } from "../request-plan.ts";
import { ToolIds } from "../tool-ids.ts";
import { type ContextItem, itemsUpTo } from "./bound-thinking.ts";
import { type ContextChange, findChanges, findRedactions } from "./context-changes.ts";
import { writePlan } from "./plan-source.ts";
import { digestMessage, digestSystem, readRecord } from "./request-digest.ts";

/** First difference between a request and the earlier request that it should continue. */
export interface RequestChange {
  /** Index of the message in the earlier context; -1 for the front: the system text, the tools, or the model. */
  readonly index: number;
  /** Id of that message's entry; undefined for the front. */
  readonly entryId: string | undefined;
  /** Id of the entry that caused the difference; undefined if no entry caused it. */
  readonly causedBy: string | undefined;
  /** Human-readable description of the difference and its cause. */
  readonly message: string;
}

/** Request that was sent or would be sent. */
interface MadeRequest {
  /** Answer to the request; undefined if the request would be sent now. */
  readonly answer: { readonly id: string; readonly message: AssistantMessage } | undefined;
  readonly path: readonly SessionEntry[];
  readonly steps: readonly ProjectedSessionEntry[];
}

/** Types of entries that start a new context. */
const BEGINNINGS: ReadonlySet<string> = new Set(["compaction", RESET_TYPE]);

const MAX_ID = 64;

/** Dialect without the limits of any provider, used to compare requests as they are in the session. */
const NEUTRAL: Dialect = {
  ...USUAL_DIALECT,
  form: "modelMessage",
  apis: undefined,
  provider: undefined,
  imageTypes: undefined,
  fitName: (name) => name,
  newIds: () => new ToolIds({ maxLength: MAX_ID, fitForeign: (id) => id }),
  canReplay: isSigned,
  readUser: () => undefined,
  readAnswer: () => undefined,
  readResult: () => undefined,
};

/**
 * Finds the first message that differs between a session's request and an earlier request, and the entry that caused the
 * difference.
 *
 * A request that continues the earlier request does not differ. Otherwise, the provider's prompt cache is lost from
 * that message on, and later thinking from Claude is invalid. Thinking itself is not compared.
 *
 * @param fromId - Entry that identifies the earlier request: for an answer, the request that it answers; for any other
 *   entry, a request with that entry as the leaf.
 * @param toId - Entry that identifies the later request. Default: the session's leaf.
 * @returns Undefined if the later request continues the earlier one.
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 * @remarks Cost: O(messages). Source: docs/messages.md#what-a-request-changes
 */
export function requestChanges(
  session: ConversationSession,
  fromId: string,
  toId?: string | null,
): RequestChange | undefined {
  assertSession(session);
  const [from, to] = [
    requestAt(session, fromId),
    requestAt(session, (toId === undefined ? session.getLeafId() : toId) ?? ""),
  ];
  return changeInFront(from.answer, to.answer) ?? changeInMessages(session, from, to);
}

/**
 * Returns the requests on the path to the leaf that do not continue the previous request, each with the ids of the two
 * answers.
 */
export function listRequestChanges(
  session: ConversationSession,
): (RequestChange & { readonly fromId: string; readonly toId: string })[] {
  const path = session.getBranch();
  const asked = path.flatMap((entry, at) => (isAnswerStep(entry) ? [at] : []));
  const leaf = path.length - 1;
  if (leaf >= 0 && asked.at(-1) !== leaf) asked.push(leaf);
  const steps = path.map((sourceEntry) => ({ sourceEntry }));
  const isRedacted = findRedactions(session, steps).length > 0;
  const changed = new Set(findChanges(steps, false).changes.map(({ step }) => step));
  path.forEach(({ type }, at) => {
    if (BEGINNINGS.has(type)) changed.add(at);
  });
  return asked.flatMap((at, number) => {
    const [before, from, to] = [asked[number - 1], path[asked[number - 1] ?? -1], path[at]];
    if (before === undefined || from === undefined || to === undefined) return [];
    // Only these entries can cause a difference, and each comparison processes the whole context.
    const mayDiffer = isRedacted || [...changed].some((one) => one > before && one <= at);
    const change = mayDiffer
      ? requestChanges(session, from.id, to.id)
      : changeInFront(asAnswer(from), asAnswer(to));
    return change === undefined ? [] : [{ ...change, fromId: from.id, toId: to.id }];
  });
}

function requestAt(session: ConversationSession, id: string): MadeRequest {
  const path = session.getBranch(id);
  const last = path.at(-1);
  if (last?.id !== id) throw makeEntryNotFoundError(id);
  const answer = asAnswer(last);
  if (answer !== undefined) path.pop();
  return { answer, path, steps: projectPath(makeEntryPath(path)).entries };
}

function asAnswer(entry: SessionEntry): MadeRequest["answer"] {
  return isAnswerStep(entry) ? entry : undefined;
}

function isAnswerStep(
  entry: SessionEntry,
): entry is SessionEntry & { type: "message"; message: AssistantMessage } {
  return getMessageFields(entry)["role"] === "assistant";
}

/** Compares the requested models and the data that hosts sent in addition to the session. */
function changeInFront(from: MadeRequest["answer"], to: MadeRequest["answer"]): RequestChange | undefined {
  if (from === undefined || to === undefined) return undefined;
  const [before, now] = [from, to].map(({ message }) => nameModel(message));
  if (before !== now) return inFront(`${now} was requested after ${before}`, to.id);
  const [sent, sends] = [readRecord(from.message), readRecord(to.message)];
  if (sent === undefined || sends === undefined) return undefined;
  return sent.tools === sends.tools ? undefined : inFront("the tools that were sent differ", undefined);
}

function nameModel(answer: AssistantMessage): string {
  const { provider, model } = toRecord(answer);
  return [provider, model].map((name) => toText(name) || UNKNOWN_NAME).join("/");
}

function inFront(what: string, causedBy: string | undefined): RequestChange {
  const message = `The requests differ before the messages: ${what}.`;
  return { index: -1, entryId: undefined, causedBy, message };
}

function changeInMessages(
  session: ConversationSession,
  from: MadeRequest,
  to: MadeRequest,
): RequestChange | undefined {
  const redaction = findRedactionBetween(session, from, to);
  const [sent, sends] = [write(from.steps), write(to.steps)];
  const isInFront = sent.system !== sends.system;
  const at = sent.messages.findIndex(({ digest }, index) => digest !== sends.messages[index]?.digest);
  const item = isInFront ? undefined : sent.messages[at]?.item;
  const target = redaction && from.steps[redaction.affects];
  if (!isInFront && item === undefined && redaction === undefined) return undefined;
  const index = item === undefined ? -1 : sent.items.indexOf(item);
  const redactedAt = sent.items.findIndex(({ entry }) => entry.id === target?.sourceEntry.id);
  if (redaction !== undefined && redactedAt !== -1 && (index === -1 ? !isInFront : redactedAt <= index))
    return described(redactedAt, target?.sourceEntry.id, redaction);
  return described(index, item?.entry.id, findCause(from, to, item));
}

function described(
  index: number,
  entryId: string | undefined,
  cause: Pick<ContextChange, "what" | "entryId"> | undefined,
): RequestChange {
  const what = index === -1 ? "The system text" : `Message ${index} (entry ${entryId})`;
  const why = cause === undefined ? "" : ` because of the ${cause.what} ${cause.entryId}`;
  return { index, entryId, causedBy: cause?.entryId, message: `${what} differs${why}.` };
}

/**
 * Finds the entry that causes a difference: an entry that is only on the later path or, failing that, only on the
 * earlier path.
 */
function findCause(
  from: MadeRequest,
  to: MadeRequest,
  item: ContextItem | undefined,
): Pick<ContextChange, "what" | "entryId"> | undefined {
  const shared = new Set(from.path.map(({ id }) => id));
  const later = changesOutside(to, shared);
  const compaction = latestCompaction(to, shared);
  if (compaction !== undefined) return { what: "compaction", entryId: compaction };
  const limit = item?.step ?? -1;
  const known = later.find(({ affects }) => affects <= limit) ?? later[0];
  if (known !== undefined) return known;
  const sharedByTo = new Set(to.path.map(({ id }) => id));
  const undone = latestCompaction(from, sharedByTo) ?? changesOutside(from, sharedByTo)[0]?.entryId;
  const [leaving] = to.path.filter(({ id }) => !shared.has(id));
  const left = undone ?? leaving?.id;
  return left === undefined ? undefined : { what: "branch at", entryId: left };
}

function changesOutside({ steps }: MadeRequest, shared: ReadonlySet<string>): ContextChange[] {
  return findChanges(steps, false).changes.filter(({ entryId }) => !shared.has(entryId));
}

/** Returns the id of the compaction or reset at the start of a context, unless the other path also contains it. */
function latestCompaction({ path }: MadeRequest, shared: ReadonlySet<string>): string | undefined {
  return path.findLast(({ type, id }) => BEGINNINGS.has(type) && !shared.has(id))?.id;
}

/** Finds a redaction between the two requests that removed content of the earlier request. */
function findRedactionBetween(
  session: ConversationSession,
  from: MadeRequest,
  to: MadeRequest,
): ContextChange | undefined {
  const redactions = findRedactions(session, from.steps);
  if (redactions.length === 0) return undefined;
  const order = new Map((session.getEntries?.() ?? session.getBranch()).map(({ id }, at) => [id, at]));
  const findPlace = (id: string | undefined) => order.get(id ?? "") ?? Number.POSITIVE_INFINITY;
  const begin = findPlace(from.answer?.id ?? from.path.at(-1)?.id);
  return redactions.find(({ entryId, affects }) => {
    const place = findPlace(entryId);
    if (place <= begin || place >= findPlace(to.answer?.id)) return false;
    const [as, marked] = [write(from.steps), write(from.steps, affects)];
    return (
      as.system !== marked.system ||
      as.messages.some(({ digest }, at) => digest !== marked.messages[at]?.digest)
    );
  });
}

/** Writes a request in a neutral form, as digests. */
function write(steps: readonly ProjectedSessionEntry[], marked?: number) {
  const items = itemsUpTo(steps, steps.length, marked);
  const plan = planMessages(
    items.map(({ message }) => message),
    { ...NEUTRAL, systemInFront: systemPlace(items) },
    {},
  );
  const messages = writePlan(plan).map(({ role, content, index }) => {
    const item = items[index];
    return { digest: digestMessage(role, content, item?.message), item };
  });
  return { system: digestSystem(plan.system), items, messages };
}

/** Returns where instructions are placed. OpenAI's models accept instructions in their original positions. */
function systemPlace(items: readonly ContextItem[]): Dialect["systemInFront"] {
  const answers = items.map(({ message }) => toRecord(message)).filter(({ role }) => role === "assistant");
  return toText(answers.at(-1)?.["api"]).startsWith("openai") ? "leading" : "all";
}
