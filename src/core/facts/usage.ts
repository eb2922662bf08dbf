import { toRecord } from "../context/entry-fields.ts";
import { isUsage } from "../context/usage.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { toPlainLine } from "./plain-text.ts";
import { addDollars, type ModelNames, toNameOrNull, toUsageTotals, type UsageTotals } from "./usage-tally.ts";

/**
 * Returns the usage of an answer, a summary, or another model call; undefined if the entry does not record any.
 *
 * Zeros are ignored, because programs store them for failed calls and unknown values.
 */
export function findUsage(entry: JsonRecord | AnySessionEntry | undefined): UsageTotals | undefined {
  const { usage } = getCallFields(entry);
  const totals = isUsage(usage) ? toUsageTotals(usage) : undefined;
  return totals?.totalTokens === 0 && totals.cost === null ? undefined : totals;
}

/** Returns the total cost stated in entries, in US dollars; null if none is stated. */
export function sumStatedCost(entries: readonly AnySessionEntry[]): number | null {
  return entries.reduce<number | null>((sum, entry) => addDollars(sum, findUsage(entry)?.cost ?? null), null);
}

/** Formats the known parts of a model's full name. */
export function formatModelName({ provider, model }: ModelNames): string {
  return toPlainLine([provider, model].filter((name) => name !== null).join("/"));
}

/** Name to display for the unknown model of a call. */
export const UNKNOWN_MODEL = "(unknown model)";

/** Types of summaries. They do not record a model, because they are usually written by the model that answers. */
const SUMMARIES: ReadonlySet<unknown> = new Set(["compaction", "branch_summary"]);

/** Determines which model made each call in a session. Expects all entries with usage, in file order. */
export class ModelsInUse {
  #answering: ModelNames | undefined;

  /** @param answering - Last model that answered before the first entry to be added. */
  constructor(answering?: ModelNames) {
    this.#answering = answering;
  }

  /** Last model that answered; undefined before the first answer. */
  get answering(): ModelNames | undefined {
    return this.#answering;
  }

  /** Returns the model specified in an entry. For a summary without a model, returns the model that answered last. */
  of(entry: JsonRecord | AnySessionEntry): ModelNames {
    const names = getModelNames(entry);
    const { type, message } = toRecord(entry);
    if (type === "message" && toRecord(message)["role"] === "assistant") this.#answering = names;
    return names.model === null && SUMMARIES.has(type) ? (this.#answering ?? names) : names;
  }
}

/** Returns the provider and model specified in an entry. */
export function getModelNames(entry: JsonRecord | AnySessionEntry | undefined): ModelNames {
  const { provider, model } = getCallFields(entry);
  return { provider: toNameOrNull(provider), model: toNameOrNull(model) };
}

/** Returns the fields that describe a model call: those of the message or, if there is none, those of the entry. */
export function getCallFields(entry: JsonRecord | AnySessionEntry | undefined) {
  const fields = toRecord(entry);
  return fields["type"] === "message" ? toRecord(fields["message"]) : fields;
}

/** Returns the number of input tokens, including cached ones. */
export function countInputTokens(
  used: Readonly<Pick<UsageTotals, "input" | "cacheRead" | "cacheWrite">>,
): number {
  return used.input + used.cacheRead + used.cacheWrite;
}
