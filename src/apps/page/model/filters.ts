import type { EntryFacts } from "./entry-facts.ts";
import type { SessionModel } from "./session-model.ts";

/** Groups of filters: outcome or label, kind of entry, and tool. */
export type FilterGroup = "mark" | "kind" | "tool";

/** Value for filtering entries. */
export interface FilterChoice {
  readonly group: FilterGroup;
  readonly value: string;
}

/** A choice, and the number of entries that would remain with it. */
export interface CountedChoice extends FilterChoice {
  readonly count: number;
}

/** Chosen values. An entry must match one choice in every group that has choices. */
export type Filter = readonly FilterChoice[];

const GROUPS: readonly FilterGroup[] = ["mark", "kind", "tool"];

/** Marks, in display order. */
const MARKS = ["failed", "aborted", "labeled"];

/** Values of an entry in each group, and the number of entries with the same values. */
type Values = { readonly [group in FilterGroup]: readonly string[] } & { count: number };

/** Filters the entries of a session, and counts the entries that would remain with each filter. */
export class FilterIndex {
  /** Distinct values; there are few. */
  readonly #different = new Map<string, Values>();
  /** Values by ordinal. */
  readonly #values: readonly Values[];

  /** @remarks Cost: O(entries). */
  constructor(session: SessionModel) {
    const answered = new Set(session.facts.map(({ callId }) => callId));
    this.#values = session.facts.map((facts, ordinal) => {
      const mark = [facts.outcome ?? "", session.labels.has(ordinal) ? "labeled" : ""].filter(Boolean);
      const values = this.#sameAs({
        mark,
        kind: [facts.kind.word],
        tool: getTools(facts, answered),
        count: 0,
      });
      values.count++;
      return values;
    });
  }

  #sameAs(values: Values): Values {
    const name = JSON.stringify([values.mark, values.kind, values.tool]);
    const known = this.#different.get(name) ?? values;
    this.#different.set(name, known);
    return known;
  }

  /** Returns whether an entry passes a filter. */
  isLeft(ordinal: number, filter: Filter): boolean {
    const values = this.#values[ordinal];
    return values !== undefined && isFitting(values, filter, GROUPS);
  }

  /**
   * Counts, for each choice, the entries that pass it and the choices of the other groups.
   *
   * @returns Marks come first, then kinds, then tools; within a group, the most frequent come first.
   * @remarks Cost: O(distinct values).
   */
  choices(filter: Filter): CountedChoice[] {
    return GROUPS.flatMap((group) => {
      const others = GROUPS.filter((one) => one !== group);
      const counts = new Map<string, number>();
      for (const values of this.#different.values()) {
        const counted = isFitting(values, filter, others) ? values.count : 0;
        for (const value of values[group]) counts.set(value, (counts.get(value) ?? 0) + counted);
      }
      const choices = Array.from(counts, ([value, count]) => ({ group, value, count }));
      return group === "mark"
        ? choices.sort((a, b) => MARKS.indexOf(a.value) - MARKS.indexOf(b.value))
        : choices.sort((a, b) => b.count - a.count);
    });
  }
}

function isFitting(values: Values, filter: Filter, groups: readonly FilterGroup[]): boolean {
  return groups.every((group) => {
    const chosen = filter.filter((one) => one.group === group);
    return chosen.length === 0 || chosen.some(({ value }) => values[group].includes(value));
  });
}

/** Returns the tool of a result or, for an answer, the tools of its calls without a result. */
function getTools({ tool, calls }: EntryFacts, answered: ReadonlySet<string>): string[] {
  const open = calls.filter(({ id }) => !answered.has(id));
  return [...new Set([tool, ...open.map((call) => call.name)].filter(Boolean))];
}

/** Adds a choice to a filter, or removes it. */
export function toggleChoice(filter: Filter, { group, value }: FilterChoice): Filter {
  const rest = filter.filter((one) => one.group !== group || one.value !== value);
  return rest.length < filter.length ? rest : [...filter, { group, value }];
}
