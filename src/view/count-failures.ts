import { isFailure } from "./entry-kind.ts";
import type { ViewSource } from "./view-source.ts";

/** Counts the entries that say that a tool, a command or a model failed. */
export function countFailures(session: ViewSource): number {
  let failed = 0;
  session.readEntries(session.tree.ordinals(), (_, entry) => {
    if (isFailure(entry)) failed++;
  });
  return failed;
}
