import { toCount } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { UnknownEntry } from "../../../core/format/entry.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toUsage } from "../../convert/answer.ts";
import { makeCustom, makeUsageEntry } from "../entry-bodies.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { getMember, type SourceRecord, toNonemptyText } from "../source-text.ts";
import { addTokens, COUNTED, NO_TOKENS, type Tokens } from "../token-sums.ts";
import { getMessageUsage } from "./message-parts.ts";
import { isNode } from "./record-graph.ts";
import type { Subagent } from "./subagents.ts";
import { getModel, getUnitCallIds, groupRecords, isBrokenOff, type Unit } from "./thread-units.ts";
import { findCountingKey } from "./unit-entries.ts";

/** Dollar amounts by model. */
export type Dollars = Readonly<Record<string, number>>;

/** `customType` of the entry that records the dollar amount in a copy's totals that was spent by the original session. */
export const INHERITED_COST_TYPE = "claude-code.inherited-cost";

/** Notes on usage entries for amounts that messages do not report. */
const NOTES = {
  summaries:
    "Tokens of the calls that wrote the summaries since the last totals; the records do not say how much each used.",
  cost: "Cost of the calls since the last such entry; their messages have the tokens.",
};

/** Dollars already included in the totals of a copy when it starts. */
export interface CopyCosts {
  /** Id of the copy. It ensures that the copy's entry ids differ from the original's. */
  readonly sessionId: string;
  readonly inherited: Dollars;
}

/**
 * Reads the running totals that Claude Code occasionally writes.
 *
 * Totals include amounts that are not in the messages: dollars, and the tokens of calls that wrote summaries. Those amounts are
 * the difference between two totals, minus the messages in between, including messages of subagents.
 */
export class CostState {
  readonly #builder: SessionBuilder;
  readonly #copy: CopyCosts | undefined;
  readonly #dollars: Map<string, number>;
  /** Last totals by model. */
  #totals: ReadonlyMap<string, Tokens> = new Map();
  /** Tokens of answers since the last totals, by model. Other calls, such as calls for titles, do not affect summaries. */
  readonly #answered = new Map<string, Tokens>();
  #summaries: Draft[] = [];
  readonly #others: SubagentTokens;
  #last: SourceRecord | undefined;
  /** Whether the next totals include tokens used before the first record. */
  #isInheriting = false;
  #number = 0;

  /**
   * @param others - Returns tokens that totals include in addition to this agent's tokens.
   * @param copy - Undefined if the session is not known to be a copy.
   */
  constructor(builder: SessionBuilder, others: SubagentTokens, copy: CopyCosts | undefined) {
    this.#builder = builder;
    this.#others = others;
    this.#copy = copy;
    this.#dollars = new Map(Object.entries(copy?.inherited ?? {}));
  }

  /** Records an answer's tokens. */
  addAnswer(model: string, tokens: Tokens): void {
    this.#answered.set(model, addTokens(this.#answered.get(model) ?? NO_TOKENS, tokens));
  }

  /** Records an entry whose summary was written by a separate call. */
  addSummary(summary: Draft): void {
    this.#summaries.push(summary);
  }

  /** Records that the conversation began in another file. The first totals then include that file's tokens. */
  inherit(): void {
    this.#isInheriting = true;
  }

  /** Reads the next totals and returns whether they contained anything new. */
  take(record: SourceRecord): boolean {
    const models = getMember(record.value, "modelUsage");
    const totals = new Map(Object.keys(models).map((name) => [name, countTokens(getMember(models, name))]));
    if (this.#last === undefined) this.#tellInherited();
    let isNews = false;
    for (const [name, dollars] of Object.entries(getDollars(record))) {
      if (this.#addDollars(name, dollars)) isNews = true;
    }
    if (this.#addSummaryTokens(totals, record)) isNews = true;
    this.#totals = totals;
    this.#last = record;
    for (const model of this.#answered.keys()) this.#answered.set(model, NO_TOKENS);
    this.#summaries = [];
    this.#isInheriting = false;
    return isNews;
  }

  /** Stores the inherited dollars, because the original may no longer exist at the next import. */
  #tellInherited(): void {
    if (this.#copy === undefined) return;
    const body = makeCustom(INHERITED_COST_TYPE, { ...this.#copy.inherited });
    this.#builder.addBehind(this.#makeKey("inherited cost"), undefined, body);
  }

  #makeKey(key: string): string {
    return this.#copy === undefined ? key : `${key} of ${this.#copy.sessionId}`;
  }

  /** Assigns the tokens that messages do not account for to the summaries written since the last totals. */
  #addSummaryTokens(totals: ReadonlyMap<string, Tokens>, record: SourceRecord): boolean {
    const [summary, ...others] = this.#summaries;
    if (summary === undefined || this.#isInheriting) return false;
    const ofOthers = this.#others.between(this.#last, record);
    if (ofOthers === undefined) return false;
    let rest = NO_TOKENS;
    for (const [model, answered] of this.#answered) {
      const told = subtractTokens(this.#totals.get(model), totals.get(model) ?? NO_TOKENS);
      const explained = addTokens(answered, ofOthers.get(model) ?? NO_TOKENS);
      rest = addTokens(addTokens(rest, told), explained, -1);
    }
    if (rest.output === 0 || COUNTED.some((name) => rest[name] < 0)) return false;
    if (others.length === 0) {
      summary["usage"] = toUsage(rest);
      return true;
    }
    const [model = UNKNOWN_NAME] = this.#answered.keys();
    this.#addUsage(`summary tokens ${this.#number++}`, "summaries", model, toUsage(rest));
    return true;
  }

  #addDollars(model: string, total: number): boolean {
    const before = this.#dollars.get(model) ?? 0;
    // The total decreased, so the program restarted its count.
    const spent = roundDollars(total < before ? total : total - before);
    this.#dollars.set(model, total);
    if (spent === 0) return false;
    this.#addUsage(`cost ${this.#number++} ${model}`, "cost", model, toUsage({ cost: spent }));
    return true;
  }

  #addUsage(key: string, kind: keyof typeof NOTES, model: string, usage: Usage): void {
    const body = makeUsageEntry(`claude-code.${kind}`, "anthropic", model, usage, NOTES[kind]);
    this.#builder.addBehind(this.#makeKey(key), undefined, body);
  }
}

function getDollars({ value }: SourceRecord): Dollars {
  const models = getMember(value, "modelUsage");
  const names = Object.keys(models);
  return Object.fromEntries(names.map((name) => [name, toCount(getMember(models, name)["costUSD"])]));
}

/**
 * Returns the dollars that the original had already spent when it was copied.
 *
 * They are in the original's last totals that precede its first record not shared by the copy.
 */
export function findCopiedDollars(original: readonly SourceRecord[], copy: readonly SourceRecord[]): Dollars {
  const uuids = new Set(copy.filter(isNode).map(({ value }) => value["uuid"]));
  const last = original.findLastIndex((record) => isNode(record) && uuids.has(record.value["uuid"]));
  const next = original.findIndex((record, position) => position > last && isNode(record));
  const before = next === -1 ? original : original.slice(0, next);
  const totals = before.findLast(({ value }) => value["type"] === "cost-state");
  return totals === undefined ? {} : getDollars(totals);
}

/** Returns the inherited dollars that an earlier import stored; undefined if the earlier import did not store any. */
export function findInheritedDollars(entries: readonly UnknownEntry[]): Dollars | undefined {
  const told = entries.find(({ customType }) => customType === INHERITED_COST_TYPE);
  if (told === undefined) return undefined;
  const models = getMember(told, "data");
  return Object.fromEntries(Object.keys(models).map((name) => [name, toCount(models[name])]));
}

/** Returns the amount by which the totals increased. If the program restarted its count, the increase is the entire new total. */
function subtractTokens(before: Tokens | undefined, now: Tokens): Tokens {
  return before === undefined || now.output < before.output ? now : addTokens(now, before, -1);
}

function countTokens(model: JsonRecord): Tokens {
  return {
    input: toCount(model["inputTokens"]),
    output: toCount(model["outputTokens"]),
    cacheRead: toCount(model["cacheReadInputTokens"]),
    cacheWrite: toCount(model["cacheCreationInputTokens"]),
  };
}

/** Removes floating-point noise from a dollar amount. */
function roundDollars(dollars: number): number {
  return Math.round(dollars * 1e12) / 1e12;
}

/** Names of the tools that start subagents, in old and new versions. */
const STARTERS: ReadonlySet<string | undefined> = new Set(["Task", "Agent"]);

/** A subagent's model call, and the time of the answer. */
interface SubagentCall {
  readonly model: string;
  /** Undefined if no record reports the call's tokens, because the call wrote a summary. */
  readonly tokens: Tokens | undefined;
  /** Unix milliseconds; NaN if unknown. */
  readonly timeMs: number;
}

/** Earliest and latest possible times of totals, in Unix milliseconds. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const BEGINNING: Span = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY };

/**
 * Counts the tokens of a session's subagents, which the program's running totals include.
 *
 * Totals do not have timestamps, but the records around them do. If it is unclear whether a call was made before or after some
 * totals, the difference from the next totals is unknown. It is also unknown if a subagent's transcript is missing.
 */
export class SubagentTokens {
  readonly #records: readonly SourceRecord[];
  readonly #subagents: readonly Subagent[];
  readonly #counted: ReadonlySet<string>;
  #calls: readonly SubagentCall[] | undefined;
  #isMissing = false;

  /**
   * @param records - Records in the main agent's file.
   * @param counted - Ids of the main agent's messages. Copies in a subagent's transcript are not the subagent's own calls.
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

  /** Records a call by the main agent. The call may start an unknown subagent. */
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
    const [from, to] = [before === undefined ? BEGINNING : this.#findSpan(before), this.#findSpan(totals)];
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
        const timeMs = getLastTime(unit);
        if (unit.role === "boundary") calls.push({ model: "", tokens: undefined, timeMs });
        if (unit.role !== "assistant") continue;
        for (const id of getUnitCallIds(unit)) this.addCall(id, toolNames.get(id));
        const key = findCountingKey(unit) ?? "";
        if (counted.has(key) || isBrokenOff(unit)) continue;
        if (key !== "") counted.add(key);
        calls.push({ model: getModel(unit), tokens: getMessageUsage(unit.nodes), timeMs });
      }
    }
    return calls;
  }

  /** Returns the span from the latest time of all earlier records to the time of the next answer. */
  #findSpan(totals: SourceRecord): Span {
    const position = this.#records.indexOf(totals);
    const times = (records: readonly SourceRecord[]) =>
      records.map(({ value }) => parseTime(value["timestamp"])).filter((time) => !Number.isNaN(time));
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

/** Returns whether totals were definitely written at or after the given time. */
function isLater({ fromMs, toMs }: Span, timeMs: number): boolean {
  return timeMs <= fromMs && timeMs < toMs;
}

/** Returns whether totals were definitely written at or before the given time. */
function isEarlier({ fromMs, toMs }: Span, timeMs: number): boolean {
  return timeMs >= toMs && timeMs > fromMs;
}

function getLastTime({ nodes }: Unit): number {
  return nodes
    .map(({ value }) => parseTime(value["timestamp"]))
    .reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
}

function parseTime(timestamp: unknown): number {
  return Date.parse(toNonemptyText(timestamp) ?? "");
}
