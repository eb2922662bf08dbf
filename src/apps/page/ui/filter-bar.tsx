import { count } from "../../../core/facts/number-text.ts";
import type { CountedChoice, FilterGroup } from "../model/filters.ts";
import { FilterIcon } from "./icons.tsx";
import type { Search } from "./use-search.ts";

interface FilterBarProps {
  readonly search: Search;
  /** Whether all choices are shown, not only those that were made and the marks. */
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

const GROUP_WORDS: { readonly [group in FilterGroup]: string } = {
  mark: "Marks",
  kind: "Kinds",
  tool: "Tools",
};

/** The filters: what went wrong always in sight, the rest on demand, each with how many entries it leaves. */
export function FilterBar({ search, isOpen, onToggle }: FilterBarProps) {
  const { choices, filter, clearFilter } = search;
  const groups: readonly FilterGroup[] = isOpen ? ["mark", "kind", "tool"] : ["mark"];
  const others = filter.filter(({ group }) => !groups.includes(group));
  return (
    <section class="filters" aria-label="Filters">
      {groups.map((group) => (
        <fieldset key={group} class="filter-group" aria-label={GROUP_WORDS[group]}>
          {choices
            .filter((choice) => choice.group === group)
            .map((choice) => (
              <Choice key={choice.value} choice={choice} search={search} />
            ))}
          {group === groups.at(-1) && (
            <button
              type="button"
              class="filter-more"
              aria-expanded={isOpen}
              title="Filters (v)"
              onClick={onToggle}
            >
              <FilterIcon />
              {isOpen ? "Fewer" : others.length > 0 ? `${others.length} more` : "More filters"}
            </button>
          )}
          {group === groups.at(-1) && filter.length > 0 && (
            <button type="button" class="link-button" onClick={clearFilter}>
              Clear
            </button>
          )}
        </fieldset>
      ))}
    </section>
  );
}

function Choice({ choice, search }: { choice: CountedChoice; search: Search }) {
  const { group, value } = choice;
  const isChosen = search.filter.some((one) => one.group === group && one.value === value);
  return (
    <button
      type="button"
      class={`filter-choice is-${group} is-${value.replaceAll(" ", "-")}`}
      aria-pressed={isChosen}
      data-filter={`${group}:${value}`}
      disabled={choice.count === 0 && !isChosen}
      onClick={() => search.toggle(choice)}
    >
      {value} <span class="filter-count">{count(choice.count)}</span>
    </button>
  );
}
