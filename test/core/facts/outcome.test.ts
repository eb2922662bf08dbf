import { expect, test } from "vitest";
import { outcomeOf } from "../../../src/core/facts/outcome.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";

const HEAD = { id: "a", parentId: null, timestamp: "2026-02-03T22:01:00.000Z" };

/** Creates an entry of a message, as a file could hold it. */
function entryOf(message: unknown): AnySessionEntry {
  return { type: "message", ...HEAD, message };
}

test.each([
  ["failed", { role: "toolResult", isError: true }],
  [undefined, { role: "toolResult", isError: "true" }],
  [undefined, { role: "toolResult", isError: false }],
  ["failed", { role: "bashExecution", exitCode: 1 }],
  [undefined, { role: "bashExecution", exitCode: 0 }],
  [undefined, { role: "bashExecution" }],
  ["aborted", { role: "bashExecution", exitCode: 130, cancelled: true }],
  ["failed", { role: "assistant", stopReason: "error" }],
  ["aborted", { role: "assistant", stopReason: "aborted" }],
  [undefined, { role: "assistant", stopReason: "stop" }],
  [undefined, { role: "user", isError: true }],
  [undefined, 7],
])("the outcome is %s of %o", (outcome, message) => {
  expect(outcomeOf(entryOf(message))).toBe(outcome);
  expect(outcomeOf({ ...entryOf(message), type: "other" })).toBeUndefined();
});
