import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import { type Answerer, isAnswerItem, makeItemMessage } from "./item-message.ts";

/** Key of an entry's items, in the `details` of its message, or in the entry's own `details` or `data`. */
const RECORD_KEY = "openaiAgents";

/** `customType` of entries that contain items without a message, or that record the removal of items. */
export const ITEMS_CUSTOM_TYPE = "openai-agents.items";

/** `kind` of the entries for requests whose answers are not in the session. */
const USAGE_KIND = "openai-agents.request";

/** A change to the history that was applied under an operation id. */
export interface AppliedOperation {
  readonly id: string;
  /** Digest of the transaction, used to recognize a repeated transaction. */
  readonly digest: string;
}

/** Items and operations of an entry. */
export interface ItemRecord {
  readonly items: readonly JsonObject[];
  /** Operations completed by this entry. */
  readonly operations: readonly AppliedOperation[];
}

/** Reads an entry's items; undefined if it has no items, or if the key contains a different value. */
export function readItemRecord(entry: SessionEntry): ItemRecord | undefined {
  const { message, details, data } = toRecord(entry);
  const holder = [toRecord(message)["details"], details, data].map((one) => toRecord(one)[RECORD_KEY]);
  const record = holder.find(isJsonRecord);
  if (record === undefined) return undefined;
  const { items, operations } = record;
  return {
    items: toArray(items).filter(isItem),
    operations: toArray(operations).flatMap(readOperation),
  };
}

/** Returns the number of answers that the items belong to. */
export function countAnswers(items: readonly JsonObject[]): number {
  return groupItems(items).filter(isOfAnswer).length;
}

/**
 * Creates draft entries for items: one for all the items of an answer, and one for every other item.
 *
 * @param usages - Usage of model requests, in order. The last element belongs to the last answer. If there are more requests than
 *   answers, for example because agents ran as tools, the additional usage is recorded first.
 */
export function makeItemDrafts(
  items: readonly JsonObject[],
  answerer: Answerer,
  operations: readonly AppliedOperation[],
  usages: readonly Usage[] = [],
): (DraftMaker | EntryDraft)[] {
  const groups = groupItems(items);
  const answers = groups.filter(isOfAnswer);
  const others = usages.slice(0, Math.max(0, usages.length - answers.length));
  const drafts = groups.map((group, i): DraftMaker => {
    const record = makeRecord(group, i === groups.length - 1 ? operations : []);
    const fromEnd = answers.length - answers.indexOf(group);
    const usage = isOfAnswer(group) ? usages.at(-fromEnd) : undefined;
    return (_, timestampMs) =>
      makeDraft(group, { ...answerer, ...(usage && { usage }) }, record, timestampMs);
  });
  return [...others.map((usage) => makeUsageDraft(usage, answerer)), ...drafts];
}

function isOfAnswer([item]: readonly JsonObject[]): boolean {
  return item !== undefined && isAnswerItem(item);
}

/** Creates a draft entry for a request whose answer is not in the session. */
function makeUsageDraft(usage: Usage, { provider }: Answerer): EntryDraft {
  return { type: "usage", kind: USAGE_KIND, provider, model: UNKNOWN_NAME, usage };
}

/** Creates a draft entry without items. */
export function makeMarkerDraft(operations: readonly AppliedOperation[]): EntryDraft {
  return { type: "custom", customType: ITEMS_CUSTOM_TYPE, data: makeRecord([], operations) };
}

/** Creates the draft of the first entry in a history that was compacted by its provider. */
export function makeCompactionDraft(item: JsonObject, tokensBefore: number): DraftMaker {
  return (id) => ({
    type: "compaction",
    summary: COMPACTED_BY_PROVIDER,
    firstKeptEntryId: id,
    tokensBefore,
    details: makeRecord([item], []),
  });
}

const COMPACTED_BY_PROVIDER =
  "The provider compacted the conversation before this point. What it kept is encrypted, and only the provider can read it.";

/** Creates a draft entry that replaces an answer's items. */
export function editDraft(targetId: string, items: readonly JsonObject[], answerer: Answerer): EntryDraft {
  const message = makeItemMessage(items, answerer, 0);
  const content = message?.role === "assistant" ? message.content : [];
  return {
    type: "context_edit",
    targetId,
    replacement: items.length === 0 ? null : { content },
    details: makeRecord(items, []),
  };
}

function makeDraft(
  items: readonly JsonObject[],
  answerer: Answerer,
  record: JsonObject,
  timestampMs: number,
): EntryDraft {
  const message = makeItemMessage(items, answerer, timestampMs);
  if (message === undefined) return { type: "custom", customType: ITEMS_CUSTOM_TYPE, data: record };
  return { type: "message", message: { ...message, details: record } };
}

/** Groups the consecutive items of an answer, which are a single message to all readers except the SDK. */
function groupItems(items: readonly JsonObject[]): JsonObject[][] {
  const groups: JsonObject[][] = [];
  let open: JsonObject[] | undefined;
  for (const item of items) {
    if (open !== undefined && isAnswerItem(item)) {
      open.push(item);
      continue;
    }
    const group = [item];
    groups.push(group);
    open = isAnswerItem(item) ? group : undefined;
  }
  return groups;
}

function makeRecord(items: readonly JsonObject[], operations: readonly AppliedOperation[]): JsonObject {
  const applied = operations.map(({ id, digest }) => ({ id, digest }));
  return { [RECORD_KEY]: { items: [...items], ...(applied.length > 0 && { operations: applied }) } };
}

function isItem(value: unknown): value is JsonObject {
  return isJsonRecord(value);
}

function readOperation(value: unknown): AppliedOperation[] {
  const { id, digest } = toRecord(value);
  return typeof id === "string" && typeof digest === "string" ? [{ id, digest }] : [];
}
