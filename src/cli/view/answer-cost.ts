import { isUsage } from "../../compaction/usage.ts";
import { fieldsOf } from "../../context/entry-fields.ts";
import { type UsageTotals, usageTotals } from "../../controller/usage-tally.ts";
import type { AnySessionEntry } from "../../schema/entry.ts";
import { count, dollars } from "../../view/words.ts";

/** Returns what an answer, a summary or another call of a model used; undefined if the entry does not say. */
export function usageOf(entry: AnySessionEntry | undefined): UsageTotals | undefined {
  const fields = fieldsOf(entry);
  const { usage } = entry?.type === "message" ? fieldsOf(fields["message"]) : fields;
  return isUsage(usage) ? usageTotals(usage) : undefined;
}

/** Writes the tokens of a call: what went in, how much of that a cache had, and what came out. */
export function tokensText({ input, output, cacheRead, cacheWrite }: UsageTotals): string {
  const cached = [
    ...(cacheRead > 0 ? [`${count(cacheRead)} from the cache`] : []),
    ...(cacheWrite > 0 ? [`${count(cacheWrite)} written to it`] : []),
  ];
  const parts = cached.length === 0 ? "" : ` (${cached.join(", ")})`;
  return `${count(input + cacheRead + cacheWrite)} in${parts}, ${count(output)} out`;
}

/** Writes which model answered, and for how much: `acme/acorn-2, tokens: 9,800 in, 268 out, $0.01`. */
export function answerText(entry: AnySessionEntry | undefined): string {
  const message = fieldsOf(fieldsOf(entry)["message"]);
  const names = [message["provider"], message["model"]].filter((name) => typeof name === "string");
  const usage = usageOf(entry);
  const used = usage === undefined ? [] : [`tokens: ${tokensText(usage)}`, dollars(usage.cost)];
  return [...(names.length > 0 ? [names.join("/")] : []), ...used].join(", ");
}
