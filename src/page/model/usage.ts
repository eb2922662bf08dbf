import { fieldsOf, numberOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import { calculateContextTokens, type Usage } from "../../core.ts";
import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";
import type { SessionModel } from "./session-model.ts";

/** What one model call used. */
export interface ModelCall {
  readonly ordinal: number;
  /** `provider/model`, or what is known of it. */
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Size of its context and answer, in tokens. */
  readonly total: number;
  /** In US dollars. */
  readonly cost: number;
}

/** What several calls used. */
export type UsageSum = Omit<ModelCall, "ordinal" | "model"> & { readonly calls: number };

const NOTHING: UsageSum = { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, cost: 0 };

/** Gives all calls of models that say what they used, in the order of the file: of messages, summaries and others. */
export function modelCalls({ entries }: SessionModel): ModelCall[] {
  return entries.flatMap((entry, ordinal): ModelCall[] => {
    const fields = fieldsOf(entry);
    const source = entry.type === "message" ? fieldsOf(fields["message"]) : fields;
    const { usage } = source;
    if (!isUsage(usage)) return [];
    const names = [textOf(source["provider"]), textOf(source["model"])].filter(Boolean);
    return [{ ordinal, model: names.join("/") || "(not named)", ...numbersOf(usage) }];
  });
}

/** What is no object is no usage; of an object, numbers that are missing count as 0. */
function isUsage(value: unknown): value is Usage {
  return isJsonRecord(value);
}

function numbersOf(usage: Usage) {
  const { input, output, cacheRead, cacheWrite, cost } = fieldsOf(usage);
  return {
    input: numberOf(input),
    output: numberOf(output),
    cacheRead: numberOf(cacheRead),
    cacheWrite: numberOf(cacheWrite),
    total: calculateContextTokens(usage),
    cost: costOf(fieldsOf(cost)),
  };
}

/** Returns the cost that a stored usage tells, in US dollars: its total, else the sum of its parts. */
export function costOf({ total, input, output, cacheRead, cacheWrite }: JsonRecord): number {
  if (typeof total === "number") return numberOf(total);
  return numberOf(input) + numberOf(output) + numberOf(cacheRead) + numberOf(cacheWrite);
}

/** By what calls are ordered: as they were made, the dearest first, or the largest first. */
export type CallOrder = "time" | "cost" | "tokens";

/** Returns calls in another order; equals stay in that of the file. */
export function orderCalls(calls: readonly ModelCall[], order: CallOrder): ModelCall[] {
  if (order === "time") return [...calls];
  const sizeOf = (call: ModelCall) => (order === "cost" ? call.cost : call.total);
  return [...calls].sort((a, b) => sizeOf(b) - sizeOf(a));
}

/** Adds calls up. */
export function sumOf(calls: readonly ModelCall[]): UsageSum {
  return calls.reduce(
    (sum, call) => ({
      calls: sum.calls + 1,
      input: sum.input + call.input,
      output: sum.output + call.output,
      cacheRead: sum.cacheRead + call.cacheRead,
      cacheWrite: sum.cacheWrite + call.cacheWrite,
      total: sum.total + call.total,
      cost: sum.cost + call.cost,
    }),
    NOTHING,
  );
}

/** Adds calls up by model, the dearest first. */
export function sumsByModel(calls: readonly ModelCall[]): { model: string; sum: UsageSum }[] {
  const byModel = new Map<string, ModelCall[]>();
  for (const call of calls) {
    const some = byModel.get(call.model);
    if (some === undefined) byModel.set(call.model, [call]);
    else some.push(call);
  }
  return Array.from(byModel, ([model, some]) => ({ model, sum: sumOf(some) })).sort(
    (a, b) => b.sum.cost - a.sum.cost || b.sum.total - a.sum.total,
  );
}

/** The part of what went in that a cache served, from 0 to 1. */
export function cacheShare({ input, cacheRead, cacheWrite }: UsageSum): number {
  const all = input + cacheRead + cacheWrite;
  return all === 0 ? 0 : cacheRead / all;
}

/** Puts calls that follow one another together, so that there are at most so many groups. */
export function groupCalls(calls: readonly ModelCall[], most: number): ModelCall[][] {
  const size = Math.max(1, Math.ceil(calls.length / most));
  const groups: ModelCall[][] = [];
  for (let at = 0; at < calls.length; at += size) groups.push(calls.slice(at, at + size));
  return groups;
}
