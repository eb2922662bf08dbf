import { toArray } from "../../core/context/entry-fields.ts";
import { type ModelNames, type Spent, toNameOrNull, type UsageTotals } from "../../core/facts/usage-tally.ts";

/** Model call recorded in a session: usage, time, and model. */
export interface RecordedCall extends ModelNames, Readonly<UsageTotals> {
  /** Id of the call's entry; undefined in version 1 files, which have no ids. */
  readonly id: string | undefined;
  /** Unix milliseconds; null if no time is recorded. */
  readonly timeMs: number | null;
  /** Part of `cacheWrite` that is cached for one hour. */
  readonly cacheWrite1h: number;
}

/** Columns, in storage order. */
const TIME = 0;
const MODEL = 1;
const INPUT = 2;
const OUTPUT = 3;
const CACHE_READ = 4;
const CACHE_WRITE = 5;
const CACHE_WRITE_1H = 6;
const REASONING = 7;
const TOTAL = 8;
const COST = 9;
const COLUMNS = 10;

/** Matches ids that can be stored in one space-separated string, which is faster to read than an array. */
const PLAIN_ID = /^[\w-]+$/;

/** Bytes per number in a column that stores doubles instead of offsets from its minimum. */
const DOUBLE_BYTES = 8;

/**
 * Model calls stored as columns of numbers: a session may have thousands of calls, and a total may cover thousands of
 * sessions.
 *
 * NaN represents an unknown time or cost.
 */
export class CallTable {
  readonly models: ModelNames[];
  /** One row of numbers per call. */
  readonly #numbers: number[] | Float64Array;
  /** Ids; in a decoded table, a space-separated string until the first access. */
  #ids: (string | undefined)[] | string;

  private constructor(
    models: ModelNames[] = [],
    numbers: number[] | Float64Array = [],
    ids: (string | undefined)[] | string = [],
  ) {
    this.models = models;
    this.#numbers = numbers;
    this.#ids = ids;
  }

  /** Returns a table that accepts more calls, starting with the calls in `before` if given. */
  static from(before?: CallTable): CallTable {
    if (before === undefined) return new CallTable();
    return new CallTable([...before.models], [...before.#numbers], [...before.#idList]);
  }

  get size(): number {
    return this.#numbers.length / COLUMNS;
  }

  /** Adds a call. Throws a `TypeError` if the table was decoded, because such a table cannot grow. */
  add(call: RecordedCall): void {
    const [numbers, ids] = [this.#numbers, this.#ids];
    if (!Array.isArray(numbers) || typeof ids === "string")
      throw new TypeError("a decoded table cannot grow");
    const { provider, model, timeMs, cost } = call;
    const known = this.models.findIndex((one) => one.provider === provider && one.model === model);
    const place = known === -1 ? this.models.push({ provider, model }) - 1 : known;
    numbers.push(timeMs ?? Number.NaN, place, call.input, call.output, call.cacheRead, call.cacheWrite);
    numbers.push(call.cacheWrite1h, call.reasoning, call.totalTokens, cost ?? Number.NaN);
    ids.push(call.id);
  }

  /** Returns the time of a call in Unix milliseconds; NaN if not recorded. */
  timeAt(i: number): number {
    return this.#at(i, TIME);
  }

  /** Returns the index of a call's model in `models`. */
  modelAt(i: number): number {
    return this.#at(i, MODEL);
  }

  getModel(i: number): ModelNames {
    return this.models[this.modelAt(i)] ?? { provider: null, model: null };
  }

  /** Returns the recorded cost of a call; NaN if not recorded. */
  costAt(i: number): number {
    return this.#at(i, COST);
  }

  tokensAt(i: number): number {
    return this.#at(i, TOTAL);
  }

  addTo(sum: Spent, i: number): void {
    sum.calls += countCall(this.tokensAt(i));
    sum.input += this.#at(i, INPUT);
    sum.output += this.#at(i, OUTPUT);
    sum.cacheRead += this.#at(i, CACHE_READ);
    sum.cacheWrite += this.#at(i, CACHE_WRITE);
    sum.total += this.#at(i, TOTAL);
    const cost = this.#at(i, COST);
    if (!Number.isNaN(cost)) sum.cost = (sum.cost ?? 0) + cost;
  }

  /**
   * Returns whether two calls with the same time are the same call: copies have the same id, unless the file has no
   * ids.
   *
   * Compares models only if there are no ids, because a copy that contains only one branch may attribute a summary to a different
   * model.
   */
  isCopy(i: number, other: CallTable, j: number): boolean {
    if ([INPUT, OUTPUT, TOTAL].some((column) => this.#at(i, column) !== other.#at(j, column))) return false;
    const [id, itsId] = [this.#idList[i], other.#idList[j]];
    if (id !== undefined && itsId !== undefined) return id === itsId;
    const [a, b] = [this.getModel(i), other.getModel(j)];
    return a.model === b.model && a.provider === b.provider;
  }

  call(i: number): RecordedCall {
    const [timeMs, cost] = [this.timeAt(i), this.costAt(i)];
    return {
      id: this.#idList[i],
      timeMs: Number.isNaN(timeMs) ? null : timeMs,
      ...this.getModel(i),
      count: countCall(this.tokensAt(i)),
      input: this.#at(i, INPUT),
      output: this.#at(i, OUTPUT),
      cacheRead: this.#at(i, CACHE_READ),
      cacheWrite: this.#at(i, CACHE_WRITE),
      cacheWrite1h: this.#at(i, CACHE_WRITE_1H),
      reasoning: this.#at(i, REASONING),
      totalTokens: this.tokensAt(i),
      cost: Number.isNaN(cost) ? null : cost,
    };
  }

  /**
   * Encodes the table as JSON and bytes.
   *
   * An integer column is stored as offsets from its minimum, in as few bytes as the largest offset requires. A
   * column of equal integers takes no bytes.
   */
  encode(): { json: unknown[]; bytes: Uint8Array } {
    const { size } = this;
    const shapes: [width: number, least: number][] = [];
    const pieces: Uint8Array[] = [];
    for (let column = 0; column < COLUMNS; column++) {
      const values = Array.from({ length: size }, (_, i) => this.#at(i, column));
      const min = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
      const isWhole = values.every(Number.isSafeInteger);
      const width = isWhole ? chooseWidth(values.reduce((a, b) => Math.max(a, b), min) - min) : DOUBLE_BYTES;
      const base = width === DOUBLE_BYTES ? 0 : min;
      shapes.push([width, size === 0 ? 0 : base]);
      pieces.push(encodeColumn(values, width, base));
    }
    const ids = this.#idList;
    const isPlain = ids.every((id) => id !== undefined && PLAIN_ID.test(id));
    const models = this.models.map(({ provider, model }) => [provider, model]);
    const json = [size, models, isPlain ? ids.join(" ") : ids.map((id) => id ?? null), shapes];
    return { json, bytes: Buffer.concat(pieces) };
  }

  /** Decodes the result of `encode`; undefined for any other data. */
  static decode(json: readonly unknown[], bytes: Uint8Array): CallTable | undefined {
    const [size, named, ids, shapes] = json;
    const max = typeof ids === "string" ? ids.length : toArray(ids).length;
    if (typeof size !== "number" || !(size >= 0 && size <= max)) return undefined;
    const numbers = new Float64Array(size * COLUMNS);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (const [column, shape] of toArray(shapes).entries()) {
      const [width, base] = toArray(shape);
      if (typeof width !== "number" || typeof base !== "number" || !WIDTHS.includes(width)) return undefined;
      if (column >= COLUMNS || at + width * size > bytes.length) return undefined;
      readColumn(numbers, column, view, at, width, base);
      at += width * size;
    }
    if (at !== bytes.length || toArray(shapes).length !== COLUMNS) return undefined;
    const models = toArray(named).map(parseModelNames);
    const idList = toArray(ids).map((id) => (typeof id === "string" ? id : undefined));
    return new CallTable(models, numbers, typeof ids === "string" && size > 0 ? ids : idList);
  }

  #at(i: number, column: number): number {
    return this.#numbers[i * COLUMNS + column] ?? Number.NaN;
  }

  get #idList(): readonly (string | undefined)[] {
    if (typeof this.#ids === "string") this.#ids = this.#ids.split(" ");
    return this.#ids;
  }
}

/** Parses a `[provider, model]` pair. */
export function parseModelNames(names: unknown): ModelNames {
  const [provider, model] = toArray(names);
  return { provider: toNameOrNull(provider), model: toNameOrNull(model) };
}

const WIDTHS = [0, 1, 2, 4, DOUBLE_BYTES];

/** Returns 1 if a call used tokens, otherwise 0, even if its record contains a cost. */
function countCall(tokens: number): number {
  return tokens > 0 ? 1 : 0;
}

function chooseWidth(max: number): number {
  if (max === 0) return 0;
  if (max <= 0xff) return 1;
  if (max <= 0xffff) return 2;
  return max <= 0xffff_ffff ? 4 : DOUBLE_BYTES;
}

function encodeColumn(values: readonly number[], width: number, base: number): Uint8Array {
  const bytes = Buffer.alloc(width * values.length);
  values.forEach((value, i) => {
    if (width === DOUBLE_BYTES) bytes.writeDoubleLE(value, i * width);
    else if (width > 0) bytes.writeUIntLE(value - base, i * width, width);
  });
  return bytes;
}

function readColumn(
  rows: Float64Array,
  column: number,
  view: DataView,
  start: number,
  width: number,
  base: number,
): void {
  let at = start;
  for (let i = column; i < rows.length; i += COLUMNS, at += width) {
    if (width === 0) rows[i] = base;
    else if (width === 1) rows[i] = base + view.getUint8(at);
    else if (width === 2) rows[i] = base + view.getUint16(at, true);
    else if (width === 4) rows[i] = base + view.getUint32(at, true);
    else rows[i] = view.getFloat64(at, true);
  }
}
