import { fieldsOf } from "../context/entry-fields.ts";
import { textOf } from "../context/message-parts.ts";
import { isUsage } from "../context/usage.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import type { JsonRecord } from "../schema/json.ts";
import { plainLine } from "./plain.ts";
import { type UsageTotals, usageTotals } from "./usage-tally.ts";
import { count, dollars } from "./words.ts";

/** Returns what an answer, a summary or another call of a model used; undefined if the entry does not say. */
export function usageOf(entry: JsonRecord | AnySessionEntry | undefined): UsageTotals | undefined {
  const { usage } = callFields(entry);
  return isUsage(usage) ? usageTotals(usage) : undefined;
}

/** Names the model of an answer or another call, as `provider/model`; empty if the entry does not say. */
export function modelOf(entry: AnySessionEntry | undefined): string {
  const { provider, model } = callFields(entry);
  return modelName(textOf(provider), textOf(model));
}

/** Names a model as far as it is known. */
export function modelName(provider: string, model: string): string {
  return plainLine([provider, model].filter(Boolean).join("/"));
}

/** Returns the fields that tell of a call of a model: of a message its own, else those of the entry. */
export function callFields(entry: JsonRecord | AnySessionEntry | undefined) {
  const fields = fieldsOf(entry);
  return fields["type"] === "message" ? fieldsOf(fields["message"]) : fields;
}

/** Returns the tokens that went in, with those that a cache had. */
export function tokensIn({ input, cacheRead, cacheWrite }: UsageTotals): number {
  return input + cacheRead + cacheWrite;
}

/** What a call of a model used, in words; each is empty if the entry does not say, or it was nothing. */
export interface UsageTexts {
  /** `9,800 in (9,000 from the cache), 268 out` */
  readonly tokens: string;
  /** `$0.0123` */
  readonly cost: string;
}

/** Writes what an entry used: tokens that went in, how many of them a cache had, and those that came out; and the cost. */
export function usageTexts(entry: AnySessionEntry | undefined): UsageTexts {
  const usage = usageOf(entry);
  if (usage === undefined) return { tokens: "", cost: "" };
  return { tokens: tokensText(usage), cost: usage.cost === null ? "" : dollars(usage.cost) };
}

function tokensText(usage: UsageTotals): string {
  const { output, cacheRead, cacheWrite } = usage;
  if (tokensIn(usage) + output === 0) return "";
  const cached = [
    cacheRead > 0 ? `${count(cacheRead)} from the cache` : "",
    cacheWrite > 0 ? `${count(cacheWrite)} written to it` : "",
  ].filter(Boolean);
  const parts = cached.length === 0 ? "" : ` (${cached.join(", ")})`;
  return `${count(tokensIn(usage))} in${parts}, ${count(output)} out`;
}

/** Writes which model answered, and for how much: `acme/acorn-2, tokens: 9,800 in, 268 out, $0.01`. */
export function answerText(entry: AnySessionEntry | undefined): string {
  const { tokens, cost } = usageTexts(entry);
  return [modelOf(entry), tokens === "" ? "" : `tokens: ${tokens}`, cost].filter(Boolean).join(", ");
}
