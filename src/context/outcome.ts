import type { AnySessionEntry } from "../schema/entry.ts";
import { fieldsOf } from "./entry-fields.ts";

/** How something ended that did not end well: by itself, or because somebody stopped it. */
export type EntryOutcome = "failed" | "aborted";

/**
 * Tells whether a tool, a command or a model failed or was stopped.
 *
 * Failed is a tool's result with `isError`, a command with an exit code other than 0, and an answer whose stop reason is
 * `"error"`; aborted is a command that was cancelled, and an answer whose stop reason is `"aborted"`.
 *
 * @returns Undefined for every other entry.
 */
export function outcomeOf(entry: AnySessionEntry): EntryOutcome | undefined {
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
