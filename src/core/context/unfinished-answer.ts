import { toRecord } from "./entry-fields.ts";

const UNFINISHED: ReadonlySet<unknown> = new Set(["pending", "error", "aborted", "deferred"]);

/**
 * Returns whether an answer is still being written, failed, was stopped, or continues elsewhere; clients omit such answers from
 * requests.
 */
export function isUnfinished(message: unknown): boolean {
  const { role, stopReason } = toRecord(message);
  return role === "assistant" && UNFINISHED.has(stopReason);
}
