import type { SourceRecord } from "../source-text.ts";
import { textOf } from "../source-values.ts";
import { addTokens, NO_TOKENS, type Tokens } from "../token-sums.ts";
import type { Subagent } from "./subagents.ts";
import { callIds, groupRecords, isBrokenOff, modelOf, type Unit } from "./thread-units.ts";
import { countingKey } from "./unit-entries.ts";
import { usageOfMessage } from "./usage.ts";

/** Tools that start subagents, in old and new versions. */
const STARTERS: ReadonlySet<string | undefined> = new Set(["Task", "Agent"]);

/** A call of a subagent's model, and when its answer was written. */
interface SubagentCall {
  readonly model: string;
  /** Undefined if no record has the call's tokens: it wrote a summary. */
  readonly tokens: Tokens | undefined;
  /** Unix milliseconds; NaN if unknown. */
  readonly timeMs: number;
}

/** Earliest and latest time at which totals were written, Unix milliseconds. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const BEGINNING: Span = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY };

/**
 * The tokens of a session's subagents, which the program's running totals include.
 *
 * Totals have no time, but come between records that have one. If a call may have come before or after totals, the
 * difference from the next totals is unknown. So it is if a subagent's transcript is missing.
 */
export class SubagentTokens {
  readonly #records: readonly SourceRecord[];
  readonly #subagents: readonly Subagent[];
  readonly #counted: ReadonlySet<string>;
  #calls: readonly SubagentCall[] | undefined;
  #isMissing = false;

  /**
   * @param records - Records of the main agent's file.
   * @param counted - Messages of the main agent; a subagent's copies of them are not its own calls.
   */
  constructor(
    records: readonly SourceRecord[],
    subagents: readonly Subagent[],
    counted: ReadonlySet<string>,
  ) {
    this.#records = records;
    this.#subagents = subagents;
    this.#counted = counted;
  }

  /** Records a call of the main agent, which may start an unknown subagent. */
  addCall(id: string, toolName: string | undefined): void {
    const isKnown = this.#subagents.some(({ toolCallId }) => toolCallId === id);
    if (STARTERS.has(toolName) && !isKnown) this.#isMissing = true;
  }

  /** Returns the tokens that subagents used between two totals, or since the start, by model; undefined if unknown. */
  between(before: SourceRecord | undefined, totals: SourceRecord): ReadonlyMap<string, Tokens> | undefined {
    this.#calls ??= this.#findCalls();
    if (this.#isMissing) return undefined;
    const sums = new Map<string, Tokens>();
    if (this.#calls.length === 0) return sums;
    const [from, to] = [before === undefined ? BEGINNING : this.#spanOf(before), this.#spanOf(totals)];
    for (const { model, tokens, timeMs } of this.#calls) {
      const isBefore = isLater(from, timeMs);
      const isAfter = isEarlier(to, timeMs);
      if (isBefore || isAfter) continue;
      if (tokens === undefined || !isEarlier(from, timeMs) || !isLater(to, timeMs)) return undefined;
      sums.set(model, addTokens(sums.get(model) ?? NO_TOKENS, tokens));
    }
    return sums;
  }

  #findCalls(): SubagentCall[] {
    const calls: SubagentCall[] = [];
    const counted = new Set(this.#counted);
    for (const { nodes } of this.#subagents) {
      const { units, toolNames } = groupRecords(nodes);
      for (const unit of units) {
        const timeMs = lastTime(unit);
        if (unit.role === "boundary") calls.push({ model: "", tokens: undefined, timeMs });
        if (unit.role !== "assistant") continue;
        for (const id of callIds(unit)) this.addCall(id, toolNames.get(id));
        const key = countingKey(unit) ?? "";
        if (counted.has(key) || isBrokenOff(unit)) continue;
        if (key !== "") counted.add(key);
        calls.push({ model: modelOf(unit), tokens: usageOfMessage(unit.nodes), timeMs });
      }
    }
    return calls;
  }

  /** Finds the span: from the latest time of all earlier records to the next answer. */
  #spanOf(totals: SourceRecord): Span {
    const position = this.#records.indexOf(totals);
    const times = (records: readonly SourceRecord[]) =>
      records.map(({ value }) => timeOf(value["timestamp"])).filter((time) => !Number.isNaN(time));
    const earlier = times(this.#records.slice(0, position));
    const later = times(
      this.#records.slice(position + 1).filter(({ value }) => value["type"] === "assistant"),
    );
    return {
      fromMs: earlier.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY),
      toMs: later.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY),
    };
  }
}

/** Tells whether totals were certainly written after something. */
function isLater({ fromMs, toMs }: Span, timeMs: number): boolean {
  return timeMs <= fromMs && timeMs < toMs;
}

/** Tells whether totals were certainly written before something. */
function isEarlier({ fromMs, toMs }: Span, timeMs: number): boolean {
  return timeMs >= toMs && timeMs > fromMs;
}

function lastTime({ nodes }: Unit): number {
  return nodes
    .map(({ value }) => timeOf(value["timestamp"]))
    .reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
}

function timeOf(timestamp: unknown): number {
  return Date.parse(textOf(timestamp) ?? "");
}
