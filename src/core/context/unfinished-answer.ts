import { toRecord } from "./entry-fields.ts";

const UNFINISHED: ReadonlySet<unknown> = new Set(["pending", "error", "aborted", "deferred"]);

/**
 * Tells whether an answer is still being written, failed, was stopped, or continues elsewhere: clients omit it from a
 * request.
 */
export function isUnfinished(message: unknown): boolean {
  const { role, stopReason } = toRecord(message);
  return role === "assistant" && UNFINISHED.has(stopReason);
}
