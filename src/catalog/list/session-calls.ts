import { toArray, toNumber, toRecord } from "../../core/context/entry-fields.ts";
import { findUsage, getCallFields, ModelsInUse } from "../../core/facts/usage.ts";
import { type ModelNames, toNameOrNull } from "../../core/facts/usage-tally.ts";
import { FRONT_ENTRIES, findImportOrigin, SUBAGENT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseJson } from "../../core/jsonl/decode.ts";
import { CallTable, parseModelNames } from "./call-table.ts";

/** Model calls in a session, and its origin as recorded in its first entries. */
export interface SessionCalls {
  readonly calls: CallTable;
  /** Program that the session was imported from; null if it was not imported. */
  readonly source: string | null;
  /** Whether the session belongs to a subagent of another session. */
  readonly isSubagent: boolean;
  /** Number of initial entries read so far; only these entries can record the origin. */
  readonly frontEntries: number;
  readonly answering: ModelNames | undefined;
}

const LF = 0x0a;

/**
 * Returns whether an entry marks its own session as a subagent session. The entry for a subagent call contains the id of the
 * subagent session instead.
 */
export function isSubagentEntry(entry: JsonRecord): boolean {
  return entry["customType"] === SUBAGENT_CUSTOM_TYPE && toRecord(entry["data"])["sessionId"] === undefined;
}

/** Collects the model calls of a session from its entries, one by one in file order. */
export class CallRecorder {
  readonly #createdMs: number;
  readonly #calls: CallTable;
  readonly #models: ModelsInUse;
  #entriesSeen: number;
  #source: string | null;
  #isSubagent: boolean;

  /**
   * @param createdMs - Time of the header.
   * @param before - Result for all earlier entries.
   */
  constructor(createdMs: number | null, before?: SessionCalls) {
    this.#createdMs = createdMs ?? Number.NaN;
    this.#calls = CallTable.from(before?.calls);
    this.#models = new ModelsInUse(before?.answering);
    this.#source = before?.source ?? null;
    this.#isSubagent = before?.isSubagent ?? false;
    this.#entriesSeen = before?.frontEntries ?? 0;
  }

  /** Whether the next entry can record the session's origin. */
  get isAtFront(): boolean {
    return this.#entriesSeen < FRONT_ENTRIES;
  }

  /** Counts an entry that is known to contain neither a call nor an origin. */
  pass(): void {
    this.#entriesSeen++;
  }

  /** Adds an entry. `id` is undefined if the entry has no id in the file. */
  add(entry: JsonRecord, id: string | undefined, entryMs: number | undefined): void {
    if (this.isAtFront) this.#readFront(entry, entryMs);
    this.#entriesSeen++;
    const usage = findUsage(entry);
    if (usage === undefined) return;
    const { timestamp, usage: stored } = getCallFields(entry);
    this.#calls.add({
      id,
      timeMs:
        entry["type"] === "message"
          ? (toWholeNumber(timestamp) ?? toWholeNumber(entryMs))
          : toWholeNumber(entryMs),
      ...this.#models.of(entry),
      cacheWrite1h: toNumber(toRecord(stored)["cacheWrite1h"]),
      ...usage,
    });
  }

  get found(): SessionCalls {
    const [calls, source, isSubagent] = [this.#calls, this.#source, this.#isSubagent];
    const frontEntries = Math.min(this.#entriesSeen, FRONT_ENTRIES);
    return { calls, source, isSubagent, frontEntries, answering: this.#models.answering };
  }

  #readFront(entry: JsonRecord, entryMs: number | undefined): void {
    // A fork made here has a later creation time than its copied entries.
    if (this.#entriesSeen === 0 && entryMs === this.#createdMs)
      this.#source = findImportOrigin(entry)?.source ?? null;
    if (isSubagentEntry(entry)) this.#isSubagent = true;
  }
}

/** Encodes an entry's model call or recorded origin for a store; undefined if the entry has neither. */
export function encodeUsage(entry: JsonRecord, id: string, entryMs: number | null): string | undefined {
  const told = pickCallFields(entry);
  return told && JSON.stringify([id, entryMs, told]);
}

/** Returns the part of an entry that `CallRecorder` reads. */
function pickCallFields(entry: JsonRecord): object | undefined {
  const { type, customType, data } = entry;
  if (customType === SUBAGENT_CUSTOM_TYPE || findImportOrigin(entry) !== undefined) {
    const { source, sourceId, sessionId } = toRecord(data);
    return { type, customType, data: { source, sourceId, sessionId } };
  }
  const totals = findUsage(entry);
  if (totals === undefined) return undefined;
  const { provider, model, timestamp, role, usage: stored } = getCallFields(entry);
  const { cacheWrite1h } = toRecord(stored);
  // A zero is treated as a recorded cost only if it was billed.
  const cost = totals.cost === null ? undefined : { total: totals.cost, totalFromProvider: true };
  const usage = { ...totals, cacheWrite1h, cost };
  const names = { provider: toNameOrNull(provider), model: toNameOrNull(model) };
  return type === "message"
    ? { type, message: { role, ...names, timestamp: toWholeNumber(timestamp), usage } }
    : { type, ...names, usage };
}

/** Decodes a session's model calls from the results of `encodeUsage`; undefined if any of them is invalid. */
export function decodeUsage(told: readonly string[], createdMs: number | null): SessionCalls | undefined {
  const recorder = new CallRecorder(createdMs);
  for (const text of told) {
    const [id, entryMs, entry] = toArray(parseJson(text)?.value);
    if (typeof id !== "string" || !isJsonRecord(entry)) return undefined;
    recorder.add(entry, id, typeof entryMs === "number" ? entryMs : undefined);
  }
  return recorder.found;
}

/** Start of the year 9999, in Unix milliseconds: formatted days support only four-digit years. */
const MAX_TIME_MS = Date.UTC(9999, 0);

function toWholeNumber(value: unknown): number | null {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS ? Math.trunc(value) : null;
}

/** Encodes calls for the cache as a line of JSON and bytes; the cache decodes them only on demand. */
export function encodeCalls(recorded: SessionCalls): Uint8Array {
  const { calls, source, isSubagent, frontEntries, answering } = recorded;
  const { json, bytes } = calls.encode();
  const last = answering && [answering.provider, answering.model];
  const front = JSON.stringify([source, isSubagent, frontEntries, last, ...json]);
  return Buffer.concat([Buffer.from(`${front}\n`), bytes]);
}

/** Decodes the result of `encodeCalls`; undefined for any other data. */
export function decodeCalls(bytes: Uint8Array): SessionCalls | undefined {
  const end = bytes.indexOf(LF);
  const parsed = end === -1 ? undefined : parseJson(decodeText(bytes.subarray(0, end)))?.value;
  if (!Array.isArray(parsed)) return undefined;
  const [source, isSubagent, frontEntries, last, ...table] = parsed;
  const calls = CallTable.decode(table, bytes.subarray(end + 1));
  if (calls === undefined || typeof frontEntries !== "number") return undefined;
  const answering = Array.isArray(last) ? parseModelNames(last) : undefined;
  return { calls, source: toNameOrNull(source), isSubagent: isSubagent === true, frontEntries, answering };
}

/** Returns the names of providers and models in the result of `encodeCalls`. */
export function readCallNames(bytes: Uint8Array): string[] {
  const { calls, answering } = decodeCalls(bytes) ?? {};
  const models = [...(calls?.models ?? []), ...(answering === undefined ? [] : [answering])];
  const names = new Set(models.flatMap(({ provider, model }) => [provider, model]));
  return [...names].filter((name) => name !== null);
}
