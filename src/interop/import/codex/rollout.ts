import { toRecord } from "../../../core/context/entry-fields.ts";
import { assertText } from "../../../core/format/arguments.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { findContinuedSession } from "../continued-session.ts";
import { getMember, type SourceRecord, type SourceText, toNonemptyText } from "../source-text.ts";

/** A Codex file. */
export interface CodexRolloutText extends SourceText {
  /** Path of the file. */
  readonly path?: string;
}

/** Parses the single JSON object that the first versions of Codex wrote; undefined if the text is not such an object. */
export function readOldCodexText(text: string): SourceText | undefined {
  assertText("text", text);
  const { session, items } = toRecord(parseJson(text)?.value);
  if (!isJsonRecord(session) || !Array.isArray(items)) return undefined;
  const values = [session, ...items.filter(isJsonRecord)];
  return { records: values.map((value) => ({ value, line: 1, offset: 0 })), issues: [] };
}

/** A Codex file, and the part of a thread that it contains. */
export interface Rollout {
  readonly text: CodexRolloutText;
  /** Records in the order they were written, without duplicates. */
  readonly records: readonly SourceRecord[];
  /** Content of the first `session_meta`; empty if there is none. */
  readonly meta: JsonRecord;
  readonly threadId: string | undefined;
  /** Id that other files use to refer to this file: the last id in its name, or the thread's id. */
  readonly rolloutId: string | undefined;
  /** Number of records that repeat an earlier record. */
  readonly repeated: number;
}

const LAST_ID = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$/;

/** Determines which part of a thread a file contains. */
export function readRollout(text: CodexRolloutText): Rollout {
  const first = text.records.find(({ value }) => isMeta(value));
  const meta = first === undefined ? getBareMeta(text.records[0]) : getMember(first.value, "payload");
  const threadId = toNonemptyText(meta["id"]);
  const rolloutId = LAST_ID.exec(text.path ?? "")?.[1] ?? threadId;
  const enveloped = text.records.map(withEnvelope);
  // In a copied or exported history, all records may have the same time. Equal records are then real repetitions.
  const threads = new Set(
    enveloped.flatMap(({ value }) => (isMeta(value) ? getMember(value, "payload")["id"] : [])),
  );
  const isCopy = threads.size > 1 || enveloped.some(({ value }) => findContinuedSession(value) !== undefined);
  const { records, repeated } = sortRecords(enveloped, isCopy);
  return { text, records, meta, threadId, rolloutId, repeated };
}

function isMeta({ type }: JsonRecord): boolean {
  return type === "session_meta";
}

/** Returns the first record if it is a bare `session_meta` payload, as in the oldest files; otherwise an empty object. */
function getBareMeta(record: SourceRecord | undefined): JsonRecord {
  const value = toRecord(record?.value);
  return value["type"] === undefined && toNonemptyText(value["id"]) !== undefined ? value : {};
}

const ITEM_TYPES: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
  "image_generation_call",
  "ghost_snapshot",
]);

/** Wraps a bare item from an old file in the envelope that newer files use. */
function withEnvelope(record: SourceRecord): SourceRecord {
  const { value } = record;
  if (value["payload"] !== undefined || !ITEM_TYPES.has(value["type"])) return record;
  return { ...record, value: { type: "response_item", timestamp: value["timestamp"], payload: value } };
}

/** Sorts records by ordinal if all of them have one, and omits duplicates. */
function sortRecords(
  records: readonly SourceRecord[],
  isCopy: boolean,
): { records: SourceRecord[]; repeated: number } {
  const seen = new Set<string>();
  const times = new Map<unknown, number>();
  for (const { value } of records) times.set(value["timestamp"], (times.get(value["timestamp"]) ?? 0) + 1);
  const kept = records.filter((record) => {
    const isNumbered = findOrdinal(record) !== undefined;
    // Only records with the same time can be equal, and serializing records takes longer than everything else.
    if (!isNumbered && (isCopy || times.get(record.value["timestamp"]) === 1)) return true;
    const key = makeRecordIdentity(record);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const repeated = records.length - kept.length;
  if (kept.every(({ value }) => typeof value["ordinal"] === "number")) {
    kept.sort((one, other) => Number(one.value["ordinal"]) - Number(other.value["ordinal"]));
  }
  return { records: kept, repeated };
}

/** Returns a key that identifies a record: its ordinal, or its content and time. */
function makeRecordIdentity({ value }: SourceRecord): string {
  const { ordinal } = value;
  return typeof ordinal === "number" ? String(ordinal) : encodeParsed(value);
}

/** Returns a record's ordinal; undefined if its file does not number records. */
export function findOrdinal({ value }: SourceRecord): number | undefined {
  const { ordinal } = value;
  return typeof ordinal === "number" ? ordinal : undefined;
}

/**
 * Counts the records at the start of a fork that were copied from its parent.
 *
 * Such a file identifies the parent in a second `session_meta`. The copy ends at the next `session_meta` of the fork itself, or
 * otherwise at the first difference from the parent's records. If the parent's file is missing, the copy ends with the burst of
 * copied records.
 *
 * @param parent - The parent's file, if it exists.
 */
export function countCopiedRecords(rollout: Rollout, parent: Rollout | undefined): number {
  const { records, threadId } = rollout;
  const metas = records.flatMap((record, at) => (isMeta(record.value) ? [at] : []));
  const [own, copied, ...rest] = metas;
  if (own === undefined || copied === undefined) return 0;
  if (toNonemptyText(getPayload(records[copied])["id"]) === threadId) return 0;
  const returned = rest.find((at) => toNonemptyText(getPayload(records[at])["id"]) === threadId);
  if (returned !== undefined) return returned;
  return parent === undefined
    ? findBurstEnd(records, copied)
    : findCommonEnd(records, copied, parent.records);
}

function getPayload(record: SourceRecord | undefined): JsonRecord {
  return toRecord(record?.value["payload"]);
}

function findCommonEnd(
  records: readonly SourceRecord[],
  start: number,
  parents: readonly SourceRecord[],
): number {
  let at = start;
  for (const parent of parents) {
    if (encodeParsed(getPayload(records[at])) !== encodeParsed(getPayload(parent))) break;
    at++;
  }
  return at;
}

/** Maximum time for copying a history, in milliseconds. */
const BURST_MS = 1000;

function findBurstEnd(records: readonly SourceRecord[], start: number): number {
  const getTime = (at: number) => Date.parse(toNonemptyText(records[at]?.value["timestamp"]) ?? "");
  const startMs = getTime(start);
  let end = start;
  while (end < records.length && getTime(end) - startMs < BURST_MS) end++;
  return end;
}
