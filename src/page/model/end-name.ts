import type { SessionModel } from "./session-model.ts";

/** Names the end of a path in words: `the leaf`, `entry 4f338a15`, or `the start` before the first entry. */
export function endName({ entries, leaf }: Pick<SessionModel, "entries" | "leaf">, end: number): string {
  if (end === leaf) return "the leaf";
  const entry = entries[end];
  return entry === undefined ? "the start" : `entry ${entry.id}`;
}
