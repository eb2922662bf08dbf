import { type AnySessionEntry, failureLine as lineOf, outcomeOf } from "../../core.ts";
import { oneLine } from "./excerpt.ts";
import { fieldsOf } from "./fields.ts";

const known = new WeakMap<AnySessionEntry, string>();

/**
 * Returns the line that says most about a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export function failureLine(entry: AnySessionEntry | undefined): string {
  if (entry === undefined || outcomeOf(entry) !== "failed") return "";
  const line = known.get(entry) ?? oneLine(lineOf(fieldsOf(entry)["message"]));
  known.set(entry, line);
  return line;
}
