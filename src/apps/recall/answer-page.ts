import { count } from "../../core/facts/number-text.ts";
import type { Answer, Block } from "./answer.ts";
import { type Argument, type Arguments, countArgument } from "./argument.ts";

/** Goes on after an earlier answer. */
export const CURSOR = countArgument(["cursor", "hits to skip, to go on after an earlier answer"], {
  most: 10_000,
  fallback: 0,
});

/** Adds the part of what was found that a call asks for, as far as it fits, and says how to go on. */
export async function addPage<T>(
  answer: Answer,
  { get }: Arguments,
  limit: Argument<number>,
  found: readonly T[],
  blockOf: (one: T) => Block | Promise<Block>,
): Promise<void> {
  let next = get(CURSOR);
  for (const one of found.slice(next, next + get(limit))) {
    if (!answer.addBlock(await blockOf(one))) break;
    next++;
  }
  if (next < found.length) answer.note(`${count(found.length - next)} more. To go on: {"cursor": ${next}}`);
}
