import { fieldsOf, numberOf } from "../../context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { textOf } from "../source-values.ts";

/** Tokens of a call of a model, beside the entries. */
interface UsageRow {
  readonly record: JsonRecord;
  /** Time of the entry before it, for a row without one. */
  readonly time: unknown;
  /** Whether an entry tells the same tokens. */
  isTold: boolean;
}

const COUNTED = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** What pi adds when it converts a session of version 3: the sum of what its messages tell. */
const SUM_OF_IMPORT = "v3-import";

/** The rows of tokens of a session, of which most repeat what entries tell. */
export class UsageRows {
  readonly #rows: UsageRow[] = [];

  take(record: JsonRecord, time: unknown): void {
    this.#rows.push({ record, time: record["timestamp"] ?? time, isTold: false });
  }

  /** Takes a summary that tells its tokens: the latest rows that sum up to them are the calls that wrote it. */
  takeSummary(usage: unknown): void {
    if (!isJsonRecord(usage)) return;
    const sum = COUNTED.map(() => 0);
    for (let at = this.#rows.length - 1; at >= 0; at--) {
      const row = this.#rows[at];
      if (row === undefined || row.isTold || row.record["entryId"] !== undefined) return;
      for (const [i, tokens] of tokensOf(row.record["usage"]).entries()) sum[i] = (sum[i] ?? 0) + tokens;
      if (isSame(sum, tokensOf(usage))) {
        for (const told of this.#rows.slice(at)) told.isTold = true;
        return;
      }
    }
  }

  /**
   * Adds the rows that no entry tells.
   *
   * @param drafts - The entries of the session, by id.
   */
  emit(drafts: ReadonlyMap<string, Draft>, builder: SessionBuilder): void {
    for (const { record, time, isTold } of this.#rows) {
      const { id, usage, details, seq, cause, adjustment } = record;
      const entry = drafts.get(String(record["entryId"]));
      const message = fieldsOf(entry?.["message"]);
      const told = message["usage"] ?? entry?.["usage"];
      if (fieldsOf(details)["source"] === SUM_OF_IMPORT) builder.drop("sum of the tokens of messages");
      else if (isTold || (isJsonRecord(told) && isSame(tokensOf(told), tokensOf(usage))))
        builder.drop("tokens that an entry tells");
      else if (!isJsonRecord(usage)) builder.drop("row without tokens");
      else {
        const body = {
          type: "usage",
          kind: textOf(cause) ?? (adjustment === true ? "adjustment" : "call"),
          provider: textOf(message["provider"]) ?? "unknown",
          model: textOf(message["model"]) ?? "unknown",
          usage,
          ...(details !== undefined && { details }),
        };
        builder.addBehind(`pi-v4 usage ${String(seq)}`, time, body, textOf(id));
      }
    }
  }
}

function tokensOf(usage: unknown): number[] {
  return COUNTED.map((name) => numberOf(fieldsOf(usage)[name]));
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.every((tokens, i) => tokens === other[i]);
}
