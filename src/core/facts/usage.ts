import { fieldsOf } from "../context/entry-fields.ts";
import { isUsage } from "../context/usage.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { plainLine } from "./plain-text.ts";
import { addDollars, type ModelNames, nameOrNull, type UsageTotals, usageTotals } from "./usage-tally.ts";

/**
 * Returns what an answer, a summary or another call of a model used; undefined if the entry does not say.
 *
 * Zeros say nothing: writers put them down for calls that failed, and where they do not know.
 */
export function usageOf(entry: JsonRecord | AnySessionEntry | undefined): UsageTotals | undefined {
  const { usage } = callFields(entry);
  const totals = isUsage(usage) ? usageTotals(usage) : undefined;
  return totals?.totalTokens === 0 && totals.cost === null ? undefined : totals;
}

/** Returns the US dollars that entries state; null if none does. */
export function statedCost(entries: readonly AnySessionEntry[]): number | null {
  return entries.reduce<number | null>((sum, entry) => addDollars(sum, usageOf(entry)?.cost ?? null), null);
}

/** Names a model as far as it is known. */
export function modelName({ provider, model }: ModelNames): string {
  return plainLine([provider, model].filter((name) => name !== null).join("/"));
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
    const names = namesOf(entry);
    const { type, message } = fieldsOf(entry);
    if (type === "message" && fieldsOf(message)["role"] === "assistant") this.#answering = names;
    return names.model === null && SUMMARIES.has(type) ? (this.#answering ?? names) : names;
  }
}

/** Returns the provider and the model that an entry names. */
export function namesOf(entry: JsonRecord | AnySessionEntry | undefined): ModelNames {
  const { provider, model } = callFields(entry);
  return { provider: nameOrNull(provider), model: nameOrNull(model) };
}

/** Returns the fields that tell of a call of a model: of a message its own, else those of the entry. */
export function callFields(entry: JsonRecord | AnySessionEntry | undefined) {
  const fields = fieldsOf(entry);
  return fields["type"] === "message" ? fieldsOf(fields["message"]) : fields;
}

/** Returns the tokens that went in, with those that a cache had. */
export function tokensIn(used: Readonly<Pick<UsageTotals, "input" | "cacheRead" | "cacheWrite">>): number {
  return used.input + used.cacheRead + used.cacheWrite;
}
