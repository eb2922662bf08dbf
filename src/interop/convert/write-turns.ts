import type { PlannedAnswer, PlannedItem, PlannedResult, PlannedUser } from "./request-plan.ts";

/** What one side says at once, in a form's own terms. */
export interface Turn<Content> {
  readonly by: "user" | "model";
  readonly content: Content;
}

/** How a form writes what was planned: unchanged originals as they came, everything else from its blocks. */
export interface TurnWriters<Content> {
  user(item: PlannedUser): Content;
  answer(item: PlannedAnswer): Content;
  results(results: readonly PlannedResult[], answer: PlannedAnswer): Content;
}

/** Writes a request of which the user says the results of an answer, directly behind it; instructions are not among its turns. */
export function writeTurns<Content>(
  items: readonly PlannedItem[],
  write: TurnWriters<Content>,
): Turn<Content>[] {
  return items.flatMap((item): Turn<Content>[] => {
    if (item.kind === "system") return [];
    if (item.kind === "user") return [{ by: "user", content: write.user(item) }];
    const answer: Turn<Content> = { by: "model", content: write.answer(item) };
    if (item.results.length === 0) return [answer];
    return [answer, { by: "user", content: write.results(item.results, item) }];
  });
}

/** Joins consecutive turns of one side, for providers whose roles alternate. */
export function joinTurns<Part>(turns: readonly Turn<readonly Part[]>[]): Turn<Part[]>[] {
  const joined: Turn<Part[]>[] = [];
  for (const { by, content } of turns) {
    const last = joined.at(-1);
    if (last?.by === by) last.content.push(...content);
    else joined.push({ by, content: [...content] });
  }
  return joined;
}
