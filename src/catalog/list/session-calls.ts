import { toArray, toNumber, toRecord } from "../../core/context/entry-fields.ts";
import { findUsage, getCallFields, ModelsInUse } from "../../core/facts/usage.ts";
import { type ModelNames, toNameOrNull } from "../../core/facts/usage-tally.ts";
import { findImportOrigin, SUBAGENT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { decodeText, parseJson } from "../../core/jsonl/decode.ts";
import { CallTable, parseModelNames } from "./call-table.ts";

/** The calls of a session, and what its first entries say of where it is from. */
export interface SessionCalls {
  readonly calls: CallTable;
  /** The program that it was imported from. */
  readonly source: string | null;
  /** Whether a subagent of another session had it. */
  readonly isSubagent: boolean;
  /** How many of the entries were read that may say so. */
  readonly frontEntries: number;
  readonly answering: ModelNames | undefined;
}

const LF = 0x0a;

/** The entries that may say where a session is from: imports write them first. */
export const FRONT_ENTRIES = 3;

/** Tells whether an entry says that its session is one of a subagent; the entry at the call names that session. */
export function isSubagentEntry(entry: JsonRecord): boolean {
  return entry["customType"] === SUBAGENT_CUSTOM_TYPE && toRecord(entry["data"])["sessionId"] === undefined;
}

/** Gathers the calls of a session from its entries, one by one in file order. */
export class CallRecorder {
  readonly #createdMs: number;
  readonly #calls: CallTable;
  readonly #models: ModelsInUse;
  #entriesSeen: number;
  #source: string | null;
  #isSubagent: boolean;

  /**
   * @param createdMs - Time of the header.
   * @param before - What all earlier entries told.
   */
  constructor(createdMs: number | null, before?: SessionCalls) {
    this.#createdMs = createdMs ?? Number.NaN;
    this.#calls = CallTable.from(before?.calls);
    this.#models = new ModelsInUse(before?.answering);
    this.#source = before?.source ?? null;
    this.#isSubagent = before?.isSubagent ?? false;
    this.#entriesSeen = before?.frontEntries ?? 0;
  }

  /** Whether the next entry may say where the session is from. */
  get isAtFront(): boolean {
    return this.#entriesSeen < FRONT_ENTRIES;
  }

  /** Counts an entry that is known to tell nothing. */
  pass(): void {
    this.#entriesSeen++;
  }

  /** Adds an entry; the id is undefined if it has none of its own. */
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
    // A fork that was made here begins later than the entries that it has copied.
    if (this.#entriesSeen === 0 && entryMs === this.#createdMs)
      this.#source = findImportOrigin(entry)?.source ?? null;
    if (isSubagentEntry(entry)) this.#isSubagent = true;
  }
}

/** Writes what an entry tells of calls and of its session's source, for a store to keep; undefined if nothing. */
export function encodeUsage(entry: JsonRecord, id: string, entryMs: number | null): string | undefined {
  const told = pickCallFields(entry);
  return told && JSON.stringify([id, entryMs, told]);
}

/** Returns as much of an entry as `CallRecorder` reads. */
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
  // A zero states a cost only if it was billed.
  const cost = totals.cost === null ? undefined : { total: totals.cost, totalFromProvider: true };
  const usage = { ...totals, cacheWrite1h, cost };
  const names = { provider: toNameOrNull(provider), model: toNameOrNull(model) };
  return type === "message"
    ? { type, message: { role, ...names, timestamp: toWholeNumber(timestamp), usage } }
    : { type, ...names, usage };
}

/** Reads the calls of a session from what `encodeUsage` wrote of its entries; undefined if any of that is something else. */
export function decodeUsage(told: readonly string[], createdMs: number | null): SessionCalls | undefined {
  const recorder = new CallRecorder(createdMs);
  for (const text of told) {
    const [id, entryMs, entry] = toArray(parseJson(text)?.value);
    if (typeof id !== "string" || !isJsonRecord(entry)) return undefined;
    recorder.add(entry, id, typeof entryMs === "number" ? entryMs : undefined);
  }
  return recorder.found;
}

/** Days of later years have no name of four digits. */
const MAX_TIME_MS = Date.UTC(9999, 0);

function toWholeNumber(value: unknown): number | null {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS ? Math.trunc(value) : null;
}

/** Writes calls for the cache, where they are only read if they are asked for: a line of JSON, and bytes. */
export function encodeCalls(recorded: SessionCalls): Uint8Array {
  const { calls, source, isSubagent, frontEntries, answering } = recorded;
  const { json, bytes } = calls.encode();
  const last = answering && [answering.provider, answering.model];
  const front = JSON.stringify([source, isSubagent, frontEntries, last, ...json]);
  return Buffer.concat([Buffer.from(`${front}\n`), bytes]);
}

/** Reads what `encodeCalls` wrote; undefined if it is anything else. */
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

/** Returns the texts of sessions that `encodeCalls` has written: names of providers and models. */
export function readCallNames(bytes: Uint8Array): string[] {
  const { calls, answering } = decodeCalls(bytes) ?? {};
  const models = [...(calls?.models ?? []), ...(answering === undefined ? [] : [answering])];
  const names = new Set(models.flatMap(({ provider, model }) => [provider, model]));
  return [...names].filter((name) => name !== null);
}
