import type { Usage } from "../../../core/format/content.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { usageOf } from "../../convert/answer.ts";
import { addTokens, minTokens, NO_TOKENS, type Tokens } from "../token-sums.ts";

/** Tokens that calls tell, by model: the totals of a session repeat them. */
export class CountedTokens {
  readonly #byModel = new Map<string, Tokens>();

  add(model: string, tokens: Tokens): void {
    this.#byModel.set(model, addTokens(this.#get(model), tokens));
  }

  /** Returns what a model's total has beyond its calls, and counts it. Those of no known model are taken to be its own. */
  takeRest(model: string, total: Tokens): Usage {
    // Totals after a rewind may have less than what is counted.
    const beyond = usageOf(addTokens(total, this.#get(model), -1));
    const unnamed = model === UNKNOWN_NAME ? NO_TOKENS : minTokens(this.#get(UNKNOWN_NAME), beyond);
    this.add(UNKNOWN_NAME, addTokens(NO_TOKENS, unnamed, -1));
    this.add(model, addTokens(beyond, NO_TOKENS));
    return usageOf(addTokens(beyond, unnamed, -1));
  }

  #get(model: string): Tokens {
    return this.#byModel.get(model) ?? NO_TOKENS;
  }
}
