import type { SessionCalls } from "../list/session-calls.ts";

/**
 * Returns the model used for the most calls in a session; in a tie, the model that reached that number last; null if no model is
 * recorded.
 */
export function findMainModel({ calls }: SessionCalls): string | null {
  const counts = new Map<string, number>();
  let [main, mainCount]: [string | null, number] = [null, 0];
  for (let i = 0; i < calls.size; i++) {
    const { model } = calls.getModel(i);
    if (model === null) continue;
    const count = (counts.get(model) ?? 0) + 1;
    counts.set(model, count);
    if (count >= mainCount) [main, mainCount] = [model, count];
  }
  return main;
}
