import { fieldsOf, listOf, numberOf } from "../context/entry-fields.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../import/imported-session.ts";
import { parseJson } from "../jsonl/decode.ts";
import { importOriginIn } from "../schema/import-origin.ts";
import type { JsonRecord } from "../schema/json.ts";
import { callFields, ModelsInUse, usageOf } from "../view/usage.ts";
import { type ModelNames, nameOrNull, type UsageTotals } from "../view/usage-tally.ts";

/** A call of a model that a session records: what it used, when, and of which model. */
export interface RecordedCall extends Readonly<UsageTotals>, ModelNames {
  /** Id of its entry; undefined in files of version 1, which hold none. */
  readonly id: string | undefined;
  /** Unix milliseconds; null if no time is recorded. */
  readonly timeMs: number | null;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h: number;
}

/** The calls of a session, and what its first entries say of where it is from. */
export interface SessionCalls {
  readonly calls: readonly RecordedCall[];
  /** The program that it was imported from. */
  readonly source: string | null;
  /** Whether a subagent of another session had it. */
  readonly isSubagent: boolean;
  /** The model that answered last. */
  readonly answering: ModelNames | undefined;
}

/** The entries that may say where a session is from: imports write them first. */
const FRONT_ENTRIES = 3;

/** Parts of the cached form. */
const CACHED_PARTS = 7;

/** Whole numbers of a call in the cached form. */
const STRIDE = 9;

/** Ids that one text can hold, with spaces between them: that is read faster than a list. */
const PLAIN_ID = /^[\w-]+$/;

/** Gathers the calls of a session from its entries, one by one in file order. */
export class CallRecorder {
  readonly #createdMs: number;
  readonly #calls: RecordedCall[];
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
    this.#calls = [...(before?.calls ?? [])];
    this.#models = new ModelsInUse(before?.answering);
    this.#source = before?.source ?? null;
    this.#isSubagent = before?.isSubagent ?? false;
    this.#entriesSeen = before === undefined ? 0 : FRONT_ENTRIES;
  }

  /** Whether the next entry may say where the session is from. */
  get isAtFront(): boolean {
    return this.#entriesSeen < FRONT_ENTRIES;
  }

  /** Counts an entry that is known to tell nothing. */
  pass(): void {
    this.#entriesSeen++;
  }

  /**
   * Adds an entry.
   *
   * @param id - Undefined if the entry has none of its own.
   */
  add(entry: JsonRecord, id: string | undefined, entryMs: number | undefined): void {
    if (this.isAtFront) this.#readFront(entry, entryMs);
    this.#entriesSeen++;
    const usage = usageOf(entry);
    if (usage === undefined) return;
    const { timestamp, usage: stored } = callFields(entry);
    this.#calls.push({
      id,
      timeMs: entry["type"] === "message" ? (wholeOf(timestamp) ?? wholeOf(entryMs)) : wholeOf(entryMs),
      ...this.#models.of(entry),
      cacheWrite1h: numberOf(fieldsOf(stored)["cacheWrite1h"]),
      ...usage,
    });
  }

  /** What was found so far. */
  get found(): SessionCalls {
    const { answering } = this.#models;
    return { calls: this.#calls, source: this.#source, isSubagent: this.#isSubagent, answering };
  }

  #readFront(entry: JsonRecord, entryMs: number | undefined): void {
    // A fork that was made here begins later than the entries that it has copied.
    if (this.#entriesSeen === 0 && entryMs === this.#createdMs)
      this.#source = importOriginIn(entry)?.source ?? null;
    const { sessionId } = fieldsOf(entry["data"]);
    // The other side of the link names the subagent's session.
    if (entry["customType"] === SUBAGENT_CUSTOM_TYPE && sessionId === undefined) this.#isSubagent = true;
  }
}

function wholeOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : null;
}

/**
 * Writes calls as a text for the cache, which is only parsed where calls are asked for.
 *
 * Times are differences and costs stand apart, since small whole numbers are read several times as fast as others.
 */
export function encodeCalls({ calls, source, isSubagent, answering }: SessionCalls): string {
  const names: string[] = [];
  const places = new Map<string, number>();
  const numbers: (number | null)[] = [];
  let lastMs = 0;
  for (const call of calls) {
    const { provider, model, timeMs } = call;
    const name = JSON.stringify([provider, model]);
    const place = places.get(name) ?? names.push(name) - 1;
    places.set(name, place);
    numbers.push(place, timeMs === null ? null : timeMs - lastMs, call.input, call.output, call.cacheRead);
    numbers.push(call.cacheWrite, call.cacheWrite1h, call.reasoning, call.totalTokens);
    lastMs = timeMs ?? lastMs;
  }
  const list = calls.map(({ id = null }) => id);
  const ids = list.every((id) => id !== null && PLAIN_ID.test(id)) ? list.join(" ") : list;
  const costs = calls.map(({ cost }) => cost);
  const last = answering && [answering.provider, answering.model];
  return JSON.stringify([source, isSubagent, last, names, ids, numbers, costs]);
}

/** Reads what `encodeCalls` wrote; undefined if it is anything else. */
export function decodeCalls(text: string): SessionCalls | undefined {
  const parsed = parseJson(text)?.value;
  if (!Array.isArray(parsed) || parsed.length !== CACHED_PARTS) return undefined;
  const [source, isSubagent, last, named, idsAsText, ...lists] = parsed;
  const names = listOf(named);
  const ids = typeof idsAsText === "string" && idsAsText !== "" ? idsAsText.split(" ") : listOf(idsAsText);
  const [numbers = [], costs = []] = lists.map(listOf);
  if (numbers.length !== ids.length * STRIDE || costs.length !== ids.length) return undefined;
  const models = names.map((name) => listOf(parseJson(String(name))?.value).map(nameOrNull));
  const calls: RecordedCall[] = [];
  let lastMs = 0;
  for (let i = 0; i < ids.length; i++) {
    const at = i * STRIDE;
    const [provider = null, model = null] = models[numberOf(numbers[at])] ?? [];
    const [id, cost, sinceLast] = [ids[i], costs[i], numbers[at + 1]];
    const timeMs = typeof sinceLast === "number" ? lastMs + sinceLast : null;
    lastMs = timeMs ?? lastMs;
    calls.push({
      id: typeof id === "string" ? id : undefined,
      timeMs,
      provider,
      model,
      count: numberOf(numbers[at + 8]) > 0 ? 1 : 0,
      input: numberOf(numbers[at + 2]),
      output: numberOf(numbers[at + 3]),
      cacheRead: numberOf(numbers[at + 4]),
      cacheWrite: numberOf(numbers[at + 5]),
      cacheWrite1h: numberOf(numbers[at + 6]),
      reasoning: numberOf(numbers[at + 7]),
      totalTokens: numberOf(numbers[at + 8]),
      cost: typeof cost === "number" ? cost : null,
    });
  }
  const [provider = null, model = null] = listOf(last).map(nameOrNull);
  const answering = Array.isArray(last) ? { provider, model } : undefined;
  return { calls, source: nameOrNull(source), isSubagent: isSubagent === true, answering };
}

/** Returns the texts of sessions that `encodeCalls` has written: names of providers and models. */
export function namesInCalls(text: string): string[] {
  const { calls = [] } = decodeCalls(text) ?? {};
  const names = new Set(calls.flatMap(({ provider, model }) => [provider, model]));
  return [...names].filter((name) => name !== null);
}
