import { fieldsOf } from "../../context/entry-fields.ts";
import type { AnySessionEntry } from "../../core.ts";
import { isFailure } from "../../view/entry-kind.ts";
import { failureLine as lineOf } from "../../view/failure-text.ts";
import { beginningOf } from "../../view/plain.ts";

const known = new WeakMap<AnySessionEntry, string>();

/**
 * Returns the line that says most about a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export function failureLine(entry: AnySessionEntry | undefined): string {
  if (entry === undefined || !isFailure(entry)) return "";
  const line = known.get(entry) ?? beginningOf(lineOf(fieldsOf(entry)["message"]));
  known.set(entry, line);
  return line;
}
