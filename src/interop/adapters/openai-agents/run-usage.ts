import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { usageOf } from "../../convert/answer.ts";

/** Knows which requests of a run are counted in a session. The SDK passes the context of each run, which lists what its requests used. */
export class RunUsage {
  /** How many requests of a run are counted. */
  readonly #counted = new WeakMap<object, number>();

  /** Notes what a run had used before this session was asked: one that goes on lists what it used in another process. */
  begin(run: object | undefined): void {
    if (run !== undefined && !this.#counted.has(run)) this.#counted.set(run, requestsOf(run).length);
  }

  /** Returns what requests used that are not counted yet, in order; of a run that has not begun here, those of the answers. */
  of(run: object | undefined, answers: number): Usage[] {
    if (run === undefined || answers === 0) return [];
    const requests = requestsOf(run);
    const counted = this.#counted.get(run) ?? Math.max(0, requests.length - answers);
    return requests.slice(counted).map(usageOfRequest);
  }

  /** Counts all requests so far, once their answers are stored. */
  count(run: object | undefined, answers: number): void {
    if (run !== undefined && answers > 0) this.#counted.set(run, requestsOf(run).length);
  }
}

function requestsOf(run: object): readonly unknown[] {
  return listOf(fieldsOf(fieldsOf(run)["usage"])["requestUsageEntries"]);
}

/** Reads a usage as the SDK counts it: its input includes what a cache had. */
function usageOfRequest(request: unknown): Usage {
  const { inputTokens, outputTokens, totalTokens, inputTokensDetails, outputTokensDetails } =
    fieldsOf(request);
  const { cached_tokens, cache_write_tokens } = fieldsOf(inputTokensDetails);
  return usageOf({
    inputWithCache: inputTokens,
    output: outputTokens,
    cacheRead: cached_tokens,
    cacheWrite: cache_write_tokens,
    reasoning: fieldsOf(outputTokensDetails)["reasoning_tokens"],
    total: totalTokens,
  });
}
