import type { JsonRecord } from "../../schema/json.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { countOf, member, type TokenCounts, usageOf } from "../source-values.ts";

type Tokens = Required<Pick<TokenCounts, "input" | "output" | "cacheRead" | "cacheWrite">>;

const NAMES = ["input", "output", "cacheRead", "cacheWrite"] as const;

const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/**
 * Follows the running totals that the program writes from time to time.
 *
 * They tell what messages do not: dollars, and the tokens of the call that made a summary. Those are what is left of the
 * difference of two totals without the messages between them; where a subagent worked, too, nobody can tell them apart.
 */
export class CostState {
  readonly #builder: SessionBuilder;
  readonly #dollars = new Map<string, number>();
  #tokens = NO_TOKENS;
  /** Since the last totals. */
  #answered = NO_TOKENS;
  #compactions: Draft[] = [];
  #hasSubagents = false;
  #number = 0;

  constructor(builder: SessionBuilder) {
    this.#builder = builder;
  }

  /** Takes note of an answer's tokens. */
  addAnswer(tokens: Tokens): void {
    this.#answered = combined(this.#answered, tokens, 1);
  }

  addCompaction(compaction: Draft): void {
    this.#compactions.push(compaction);
  }

  /** Takes note that totals hold the tokens of others from here on. */
  addSubagent(): void {
    this.#hasSubagents = true;
  }

  /**
   * Takes the next totals.
   *
   * @returns Whether they told anything new.
   */
  take(record: JsonRecord): boolean {
    const models = member(record, "modelUsage");
    let tokens = NO_TOKENS;
    let isNews = false;
    for (const name of Object.keys(models)) {
      const model = member(models, name);
      tokens = combined(tokens, tokensOf(model), 1);
      if (this.#addDollars(name, countOf(model["costUSD"]))) isNews = true;
    }
    const rest = combined(combined(tokens, this.#tokens, -1), this.#answered, -1);
    const [compaction] = this.#compactions;
    const isCall = rest.output > 0 && NAMES.every((name) => rest[name] >= 0);
    if (compaction !== undefined && this.#compactions.length === 1 && isCall && !this.#hasSubagents) {
      compaction["usage"] = usageOf(rest);
      isNews = true;
    }
    this.#tokens = tokens;
    this.#answered = NO_TOKENS;
    this.#compactions = [];
    return isNews;
  }

  #addDollars(model: string, total: number): boolean {
    const before = this.#dollars.get(model) ?? 0;
    // Less than before: the program began to count anew.
    const spent = rounded(total < before ? total : total - before);
    this.#dollars.set(model, total);
    if (spent === 0) return false;
    this.#builder.addBehind(`cost ${this.#number++} ${model}`, undefined, {
      type: "usage",
      kind: "claude-code.cost",
      provider: "anthropic",
      model,
      usage: usageOf({ cost: spent }),
      note: "Cost of the calls since the last such entry; their messages tell the tokens.",
    });
    return true;
  }
}

function tokensOf(model: JsonRecord): Tokens {
  return {
    input: countOf(model["inputTokens"]),
    output: countOf(model["outputTokens"]),
    cacheRead: countOf(model["cacheReadInputTokens"]),
    cacheWrite: countOf(model["cacheCreationInputTokens"]),
  };
}

/** Adds a multiple of one to the other. */
function combined(one: Tokens, other: Tokens, times: number): Tokens {
  return {
    input: one.input + times * other.input,
    output: one.output + times * other.output,
    cacheRead: one.cacheRead + times * other.cacheRead,
    cacheWrite: one.cacheWrite + times * other.cacheWrite,
  };
}

/** Takes away what floating-point numbers add to a difference of dollars. */
function rounded(dollars: number): number {
  return Math.round(dollars * 1e12) / 1e12;
}
