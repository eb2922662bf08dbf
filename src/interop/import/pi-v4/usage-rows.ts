import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { toNonemptyText } from "../source-text.ts";
import { COUNTED } from "../token-sums.ts";

/** Tokens of a model call that are stored separately from the entries. */
interface UsageRow {
  readonly record: JsonRecord;
  /** Time of the row, or of the previous entry. */
  readonly time: unknown;
}

/** Source of the row that pi adds when it converts a version 3 session. The row contains the sum of the messages' usage. */
const SUM_OF_IMPORT = "v3-import";

/** Usage rows of a session. Most rows repeat the usage of an entry. */
export class UsageRows {
  readonly #builder: SessionBuilder;
  /** Entries of the session by id. */
  readonly #drafts: ReadonlyMap<string, Draft>;
  /** Rows since the last entry. */
  #rows: UsageRow[] = [];

  constructor(builder: SessionBuilder, drafts: ReadonlyMap<string, Draft>) {
    this.#builder = builder;
    this.#drafts = drafts;
  }

  take(record: JsonRecord, time: unknown): void {
    this.#rows.push({ record, time });
  }

  /**
   * Adds the rows that no entry reports. If the next entry is a summary, it accounts for the latest rows that add up to its
   * tokens.
   */
  flush(next: JsonRecord = {}): void {
    const rows = this.#rows;
    this.#rows = [];
    const first = rows.length - countToldBySummary(rows, next);
    for (const [place, row] of rows.entries()) {
      const { id, usage, details, entryId } = row.record;
      const entry =
        entryId !== undefined && entryId === next["id"] ? next : this.#drafts.get(toSafeString(entryId));
      const told = toRecord(entry?.["message"])["usage"] ?? entry?.["usage"];
      if (toRecord(details)["source"] === SUM_OF_IMPORT) this.#builder.drop("sum of the tokens of messages");
      else if (!isJsonRecord(usage)) this.#builder.drop("row without tokens");
      else if (place >= first || (isJsonRecord(told) && isSame(getTokens(told), getTokens(usage)))) {
        this.#builder.drop("tokens that an entry has");
        // If the file was imported before this entry was written, that import created an entry for the row.
        this.#builder.withdraw(toNonemptyText(id) ?? "");
      } else this.#add(row, toRecord(entry?.["message"]));
    }
  }

  #add({ record, time }: UsageRow, message: JsonRecord): void {
    const { id, usage, details, seq, cause, adjustment } = record;
    const body = {
      type: "usage",
      kind: toNonemptyText(cause) ?? (adjustment === true ? "adjustment" : "call"),
      provider: toNonemptyText(message["provider"]) ?? "unknown",
      model: toNonemptyText(message["model"]) ?? "unknown",
      usage,
      ...(details !== undefined && { details }),
    };
    this.#builder.addBehind(`pi-v4 usage ${toSafeString(seq)}`, time, body, toNonemptyText(id));
  }
}

/** Returns how many of the latest rows belong to the calls that wrote a summary. */
function countToldBySummary(rows: readonly UsageRow[], { message, usage }: JsonRecord): number {
  if (message !== undefined || !isJsonRecord(usage)) return 0;
  const sum = COUNTED.map(() => 0);
  for (const [back, { record }] of [...rows].reverse().entries()) {
    if (record["entryId"] !== undefined) return 0;
    for (const [i, tokens] of getTokens(record["usage"]).entries()) sum[i] = (sum[i] ?? 0) + tokens;
    if (isSame(sum, getTokens(usage))) return back + 1;
  }
  return 0;
}

function getTokens(usage: unknown): number[] {
  return COUNTED.map((name) => toNumber(toRecord(usage)[name]));
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.every((tokens, i) => tokens === other[i]);
}
