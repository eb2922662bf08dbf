import type { AnySessionEntry } from "../../core.ts";
import { fieldsOf } from "./fields.ts";

/** How something ended that did not end well: by itself, or because somebody stopped it. */
export type Outcome = "failed" | "aborted";

/** Tells whether a tool, a command or a model failed or was stopped; undefined for everything else. */
export function outcomeOf(entry: AnySessionEntry): Outcome | undefined {
  if (entry.type !== "message") return undefined;
  const { role, isError, exitCode, cancelled, stopReason } = fieldsOf(fieldsOf(entry)["message"]);
  switch (role) {
    case "toolResult":
      return isError === true ? "failed" : undefined;
    case "bashExecution":
      if (cancelled === true) return "aborted";
      return typeof exitCode === "number" && exitCode !== 0 ? "failed" : undefined;
    case "assistant":
      if (stopReason === "error") return "failed";
      return stopReason === "aborted" ? "aborted" : undefined;
    default:
      return undefined;
  }
}

/** Finds the failure after or before an entry in the order of the file, around the ends; undefined if nothing failed. */
export function nextFailure(
  { failures }: { readonly failures: readonly number[] },
  from: number,
  direction: 1 | -1,
): number | undefined {
  if (direction === 1) return failures.find((ordinal) => ordinal > from) ?? failures[0];
  return failures.findLast((ordinal) => ordinal < from) ?? failures.at(-1);
}
