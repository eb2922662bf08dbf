import { getMessageFields } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../format/entry.ts";

/** Unsuccessful outcome: a failure or an abort. */
export type EntryOutcome = "failed" | "aborted";

/**
 * Determines whether a tool, a command, or a model failed or was stopped.
 *
 * Failed: a tool result with `isError`, a command with a nonzero exit code, or an answer with the stop reason `"error"`. Aborted:
 * a canceled command, or an answer with the stop reason `"aborted"`.
 *
 * @returns Undefined for all other entries.
 */
export function outcomeOf(entry: AnySessionEntry): EntryOutcome | undefined {
  if (entry.type !== "message") return undefined;
  const { role, isError, exitCode, cancelled, stopReason } = getMessageFields(entry);
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
