import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { errorLine, failureLine as lineOf } from "../../../core/facts/failure-text.ts";
import { beginningOf } from "../../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { isFailure } from "../../text/entry-kind.ts";

/**
 * Returns the line that says most about a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export const failureLine = remembered((message) => beginningOf(lineOf(message)));

/** Returns the line of an output that names the error, as it stands there without its colours; empty as `failureLine`. */
export const errorLineOf = remembered(errorLine);

/** Makes a function that remembers what another one says of failures. */
function remembered(read: (message: unknown) => string): (entry: AnySessionEntry | undefined) => string {
  const known = new WeakMap<AnySessionEntry, string>();
  return (entry) => {
    if (entry === undefined || !isFailure(entry)) return "";
    const line = known.get(entry) ?? read(fieldsOf(entry)["message"]);
    known.set(entry, line);
    return line;
  };
}
