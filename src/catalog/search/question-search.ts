import { groupBy } from "../../core/format/group-by.ts";
import type { Pace } from "../../session/files/time-slices.ts";
import { getFreshness, roundScore, type SearchPlan } from "../query/entry-search.ts";
import { makeQuestionMatcher } from "../query/question-matcher.ts";
import { QuestionRanking, type RankedEntry } from "../query/question-ranking.ts";
import type { TableEntry, TermTable } from "../query/term-table.ts";
import type { FoundHit } from "./search-file.ts";
import { getRoleNumber } from "./term-tables.ts";

/** Maximum number of ranked entries. */
export const MAX_RANKED = 10_000;

/** Limits on the number of entries read at a time, which is otherwise the number of hits still needed. */
const MIN_CHUNK = 8;
const MAX_CHUNK = 64;

/** Reads the hits on the given lines of a session. */
type HitReader<Session, Hit> = (
  session: Session,
  offsets: readonly number[],
  plan: SearchPlan,
) => AsyncIterable<readonly Hit[]>;

/** Finds the entries that best answer a question, whether the sessions are in files or in a store. */
export class QuestionSearch<Session, Hit extends FoundHit> {
  readonly #plan: SearchPlan;
  readonly #ranking: QuestionRanking<Session>;
  readonly #roles: ReadonlySet<number> | undefined;

  constructor(plan: SearchPlan) {
    const { roles } = plan.filters;
    this.#plan = plan;
    this.#ranking = new QuestionRanking(plan.query.words ?? []);
    this.#roles = roles && new Set(roles.map(getRoleNumber));
  }

  /**
   * Adds a session with the words in its entries.
   *
   * @param size - Number of entries in the session, if the table contains only some of them.
   */
  add(session: Session, table: TermTable, size = table.size): void {
    this.#ranking.add(session, table, (entry) => this.#getFactor(entry), Math.max(size, table.size));
  }

  /**
   * Yields the best hits, most relevant first.
   *
   * @param limit - Maximum number of hits; an integer, at most 10,000.
   * @param readHits - Reads the hits in a session; yields nothing if the session has changed or no longer exists.
   */
  async *findHits(
    limit: number,
    readHits: HitReader<Session, Hit>,
    pace: Pace,
  ): AsyncGenerator<Hit, void, undefined> {
    if (!(limit >= 1)) return;
    const worths = this.#ranking.getWorthByHash();
    const plan = { ...this.#plan, match: makeQuestionMatcher(this.#plan.query, worths) };
    const ranked = this.#ranking.rank(MAX_RANKED);
    let left = limit;
    for (let from = 0; from < ranked.length; ) {
      const chunk = ranked.slice(from, from + Math.max(MIN_CHUNK, Math.min(MAX_CHUNK, left)));
      from += chunk.length;
      const found = await readChunk(chunk, plan, readHits);
      for (const one of chunk) {
        const hit = found.get(one);
        if (hit === undefined) continue;
        yield { ...hit, score: roundScore(one.score) };
        if (--left < 1) return;
      }
      pace.check();
    }
  }

  #getFactor({ timeMs, role }: TableEntry): number {
    const { since, until } = this.#plan.filters;
    if (this.#roles?.has(role) === false) return 0;
    if (since !== undefined && !(timeMs >= since.getTime())) return 0;
    if (until !== undefined && !(timeMs < until.getTime())) return 0;
    return getFreshness(this.#plan.nowMs, Number.isNaN(timeMs) ? undefined : timeMs);
  }
}

/** Reads the hits for ranked entries, reading each session once. */
async function readChunk<Session, Hit extends FoundHit>(
  chunk: readonly RankedEntry<Session>[],
  plan: SearchPlan,
  readHits: HitReader<Session, Hit>,
): Promise<Map<RankedEntry<Session>, Hit>> {
  const found = new Map<RankedEntry<Session>, Hit>();
  for (const [session, entries] of groupBy(chunk, (one) => one.session)) {
    const byOffset = new Map(entries.map((one) => [one.offset, one]));
    const offsets = [...byOffset.keys()].sort((a, b) => a - b);
    for await (const batch of readHits(session, offsets, plan)) {
      for (const hit of batch) {
        const one = byOffset.get(hit.offset);
        if (one !== undefined && !found.has(one)) found.set(one, hit);
      }
    }
  }
  return found;
}
