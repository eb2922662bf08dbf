import { addTo } from "../../core/format/group-by.ts";
import type { CallTable } from "../list/call-table.ts";

/** Returns the times at which several calls are recorded: no other can be a copy. */
function repeatedTimes(tables: readonly CallTable[]): ReadonlySet<number> {
  const times = new Float64Array(tables.reduce((sum, { size }) => sum + size, 0));
  let count = 0;
  for (const calls of tables) for (let i = 0; i < calls.size; i++) times[count++] = calls.timeAt(i);
  times.sort();
  const repeated = new Set<number>();
  for (let i = 1; i < count; i++) {
    const time = times[i];
    // Unknown times equal none.
    if (time !== undefined && time === times[i - 1]) repeated.add(time);
  }
  return repeated;
}

/** The calls of the sessions so far, to know copies of them. */
export class SeenCalls {
  readonly #repeated: ReadonlySet<number>;
  /** By time, those that may have copies. */
  readonly #byTime = new Map<number, { readonly calls: CallTable; readonly i: number }[]>();

  /** @param tables - All calls that will be added. */
  constructor(tables: readonly CallTable[]) {
    this.#repeated = repeatedTimes(tables);
  }

  /** Adds the calls of a session; returns the indexes of those that no earlier session has. */
  add(calls: CallTable): number[] {
    const own: number[] = [];
    const added: number[] = [];
    for (let i = 0; i < calls.size; i++) {
      const mayBeCopied = this.#repeated.size > 0 && this.#repeated.has(calls.timeAt(i));
      if (mayBeCopied && this.#has(calls, i)) continue;
      own.push(i);
      if (mayBeCopied) added.push(i);
    }
    // Only now: two calls of one moment in a session are two.
    for (const i of added) addTo(this.#byTime, calls.timeAt(i), { calls, i });
    return own;
  }

  #has(calls: CallTable, i: number): boolean {
    const known = this.#byTime.get(calls.timeAt(i));
    return known?.some((other) => calls.isCopy(i, other.calls, other.i)) === true;
  }
}
