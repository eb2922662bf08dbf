import { toRecord } from "../context/entry-fields.ts";
import { isUsage } from "../context/usage.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { toPlainLine } from "./plain-text.ts";
import { addDollars, type ModelNames, toNameOrNull, toUsageTotals, type UsageTotals } from "./usage-tally.ts";

/**
 * Returns what an answer, a summary or another call of a model used; undefined if the entry does not say.
 *
 * Zeros say nothing: writers put them down for calls that failed, and where they do not know.
 */
export function findUsage(entry: JsonRecord | AnySessionEntry | undefined): UsageTotals | undefined {
  const { usage } = getCallFields(entry);
  const totals = isUsage(usage) ? toUsageTotals(usage) : undefined;
  return totals?.totalTokens === 0 && totals.cost === null ? undefined : totals;
}

/** Returns the US dollars that entries state; null if none does. */
export function sumStatedCost(entries: readonly AnySessionEntry[]): number | null {
  return entries.reduce<number | null>((sum, entry) => addDollars(sum, findUsage(entry)?.cost ?? null), null);
}

/** Names a model as far as it is known. */
export function formatModelName({ provider, model }: ModelNames): string {
  return toPlainLine([provider, model].filter((name) => name !== null).join("/"));
}

/** Stands for the model of calls whose records do not name one. */
export const UNKNOWN_MODEL = "(unknown model)";

/** Summaries name no model: programs have them written by the one that answers. */
const SUMMARIES: ReadonlySet<unknown> = new Set(["compaction", "branch_summary"]);

/** Tells which model made each call of a session. It is shown those entries in the order of the file that say what a call used. */
export class ModelsInUse {
  #answering: ModelNames | undefined;

  /** @param answering - The model that answered last, before the first of these entries. */
  constructor(answering?: ModelNames) {
    this.#answering = answering;
  }

  /** The model that answered last; undefined before the first answer. */
  get answering(): ModelNames | undefined {
    return this.#answering;
  }

  /** Returns the model that an entry names, and for a summary that names none the one that answered last. */
  of(entry: JsonRecord | AnySessionEntry): ModelNames {
    const names = getModelNames(entry);
    const { type, message } = toRecord(entry);
    if (type === "message" && toRecord(message)["role"] === "assistant") this.#answering = names;
    return names.model === null && SUMMARIES.has(type) ? (this.#answering ?? names) : names;
  }
}

/** Returns the provider and the model that an entry names. */
export function getModelNames(entry: JsonRecord | AnySessionEntry | undefined): ModelNames {
  const { provider, model } = getCallFields(entry);
  return { provider: toNameOrNull(provider), model: toNameOrNull(model) };
}

/** Returns the fields that tell of a call of a model: of a message its own, else those of the entry. */
export function getCallFields(entry: JsonRecord | AnySessionEntry | undefined) {
  const fields = toRecord(entry);
  return fields["type"] === "message" ? toRecord(fields["message"]) : fields;
}

/** Returns the tokens that went in, with those that a cache had. */
export function countInputTokens(
  used: Readonly<Pick<UsageTotals, "input" | "cacheRead" | "cacheWrite">>,
): number {
  return used.input + used.cacheRead + used.cacheWrite;
}
