import { toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { findContinuedSession } from "../continued-session.ts";
import type { SourceRecord, SourceText } from "../source-text.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** One file of Codex. */
export interface CodexRolloutText extends SourceText {
  /** Path of the file. */
  readonly path?: string;
}

/** Parses the single JSON object that the first versions of Codex wrote; undefined if the text is not one. */
export function readOldCodexText(text: string): SourceText | undefined {
  const { session, items } = toRecord(parseJson(text)?.value);
  if (!isJsonRecord(session) || !Array.isArray(items)) return undefined;
  const values = [session, ...items.filter(isJsonRecord)];
  return { records: values.map((value) => ({ value, line: 1, offset: 0 })), issues: [] };
}

/** A file of Codex, and the part of a thread that it contains. */
export interface Rollout {
  readonly text: CodexRolloutText;
  /** In the order in which they were written, without duplicates. */
  readonly records: readonly SourceRecord[];
  /** Content of the first `session_meta`; empty if there is none. */
  readonly meta: JsonRecord;
  readonly threadId: string | undefined;
  /** Id by which other files refer to this one: the last id in its name, else the thread's. */
  readonly rolloutId: string | undefined;
  /** Number of records that repeat another one. */
  readonly repeated: number;
}

const LAST_ID = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$/;

/** Determines the part of a thread that a file contains. */
export function readRollout(text: CodexRolloutText): Rollout {
  const first = text.records.find(({ value }) => isMeta(value));
  const meta = first === undefined ? getBareMeta(text.records[0]) : getMember(first.value, "payload");
  const threadId = toNonemptyText(meta["id"]);
  const rolloutId = LAST_ID.exec(text.path ?? "")?.[1] ?? threadId;
  const enveloped = text.records.map(withEnvelope);
  // All records of a copied or exported history may have the same time: then equal records are real repetitions.
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

/** Returns the first record of the oldest files, which has the form of a later `session_meta` payload; else empty. */
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

/** Wraps a bare item, as in the oldest files, in the form of later ones. */
function withEnvelope(record: SourceRecord): SourceRecord {
  const { value } = record;
  if (value["payload"] !== undefined || !ITEM_TYPES.has(value["type"])) return record;
  return { ...record, value: { type: "response_item", timestamp: value["timestamp"], payload: value } };
}

/** Sorts numbered records, and omits those that repeat another one. */
function sortRecords(
  records: readonly SourceRecord[],
  isCopy: boolean,
): { records: SourceRecord[]; repeated: number } {
  const seen = new Set<string>();
  const times = new Map<unknown, number>();
  for (const { value } of records) times.set(value["timestamp"], (times.get(value["timestamp"]) ?? 0) + 1);
  const kept = records.filter((record) => {
    const isNumbered = findOrdinal(record) !== undefined;
    // Only records with the same time can be equal, and serializing them takes longer than everything else.
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

/** Returns a key that identifies a record: its number, else its content and time. */
function makeRecordIdentity({ value }: SourceRecord): string {
  const { ordinal } = value;
  return typeof ordinal === "number" ? String(ordinal) : encodeParsed(value);
}

/** Returns the number of a record; undefined if its file does not number them. */
export function findOrdinal({ value }: SourceRecord): number | undefined {
  const { ordinal } = value;
  return typeof ordinal === "number" ? ordinal : undefined;
}

/**
 * Counts the records that a fork copied from its parent before its own.
 *
 * Such a file names the parent in a second `session_meta`. The copy ends where the first one returns, else where the records
 * differ from the parent's, else at the end of the burst of time in which they were copied.
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

/** Milliseconds within which a history is copied. */
const BURST_MS = 1000;

function findBurstEnd(records: readonly SourceRecord[], start: number): number {
  const getTime = (at: number) => Date.parse(toNonemptyText(records[at]?.value["timestamp"]) ?? "");
  const startMs = getTime(start);
  let end = start;
  while (end < records.length && getTime(end) - startMs < BURST_MS) end++;
  return end;
}
