import { useMemo } from "preact/hooks";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { outcomeOf } from "../../../core/facts/outcome.ts";
import { getResultToolName } from "../../../core/facts/tool-calls.ts";
import { failureLine } from "../model/entry-text.ts";
import type { CountedChoice, FilterGroup } from "../model/filters.ts";
import type { PathView } from "../model/path-items.ts";
import { cutSnippet, type SearchHit } from "../model/search.ts";
import { getKindAt, isHiddenRecord } from "../model/session-model.ts";
import { countHiddenRecords } from "../model/shown-items.ts";
import { LinkButton } from "./controls.tsx";
import { FilterIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import type { Search } from "./use-search.ts";
import { useJump, VirtualList } from "./virtual-list.tsx";

interface SearchPanelProps {
  readonly hits: readonly SearchHit[];
  /** Whether there may be more hits. */
  readonly isSearching: boolean;
  /** Reason why the query cannot be searched; empty if it can. */
  readonly problem: string;
  /** Index of the current hit; -1 if there is no current hit. */
  readonly current: number;
  readonly path: PathView;
  readonly onChoose: (index: number) => void;
}

/** Search hits, in file order. */
export function SearchPanel({ hits, isSearching, problem, current, path, onChoose }: SearchPanelProps) {
  const jump = useJump(current, current);
  return (
    <>
      <div class="panel-bar">
        <span class="panel-facts" role="status">
          {problem ||
            (isSearching
              ? `Searching: ${formatCounted(hits.length, "entry", "entries")} found so far`
              : hits.length === 0
                ? "Nothing found"
                : formatCounted(hits.length, "entry found", "entries found"))}
        </span>
      </div>
      <VirtualList
        class="hits"
        label="Entries found"
        items={hits}
        getKey={({ ordinal }) => ordinal}
        estimate={() => 66}
        jump={jump}
        render={(hit, index) => (
          <HitRow hit={hit} isCurrent={index === current} path={path} onChoose={() => onChoose(index)} />
        )}
      />
    </>
  );
}

interface HitRowProps {
  readonly hit: SearchHit;
  readonly isCurrent: boolean;
  readonly path: PathView;
  readonly onChoose: () => void;
}

/** Hit: kind and state of the entry, and the text around the match. */
function HitRow({ hit, isCurrent, path, onChoose }: HitRowProps) {
  const { session, areRecordsShown } = usePage();
  const { ordinal } = hit;
  const [before, match, after] = cutSnippet(session, hit);
  const entry = session.entryAt(ordinal);
  // The failure follows the title of the entry; with a query, the snippet already shows why the entry matched.
  const failure = match === "" ? failureLine(entry) : "";
  const { tone, word } = getKindAt(session, ordinal);
  const outcome = entry === undefined ? undefined : outcomeOf(entry);
  const tool = getResultToolName(entry);
  const label = session.labels.get(ordinal);
  return (
    <button
      type="button"
      class={`hit tone-${tone} ${outcome === undefined ? "" : `is-${outcome}`} ${isCurrent ? "is-current" : ""}`}
      aria-current={isCurrent}
      onClick={onChoose}
    >
      <span class="hit-kind">
        {tool === "" ? word : `${word}: ${tool}`}
        {outcome !== undefined && <span class={`chip is-${outcome}`}>{outcome}</span>}
        {label !== undefined && <span class="chip is-label">{label}</span>}
        {!path.indices.has(ordinal) && <span class="chip">other branch</span>}
        {!areRecordsShown && isHiddenRecord(session, ordinal) && <span class="chip">hidden record</span>}
      </span>
      <span class={failure === "" ? "hit-text" : "hit-text is-one-line"}>
        {before}
        {match !== "" && <mark>{match}</mark>}
        {after}
      </span>
      {failure !== "" && failure !== before && <span class="hit-text is-failure">{failure}</span>}
    </button>
  );
}

interface FilterBarProps {
  readonly search: Search;
  /** Whether to show all choices instead of only chosen choices and marks. */
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

const GROUP_WORDS: { readonly [group in FilterGroup]: string } = {
  mark: "Marks",
  kind: "Kinds",
  tool: "Tools",
};

/** Filters, each with its number of matching entries: marks are always in view, the rest on demand. */
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
          {group === "mark" && <RecordsChoice />}
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
            <LinkButton onClick={clearFilter}>Clear</LinkButton>
          )}
        </fieldset>
      ))}
    </section>
  );
}

/** Button that shows programs' internal notes, which are hidden by default, and their number. */
function RecordsChoice() {
  const { session, go, areRecordsShown } = usePage();
  const hidden = useMemo(() => countHiddenRecords(session), [session]);
  if (!session.isWhole || hidden === 0) return null;
  return (
    <button
      type="button"
      class="filter-choice is-records"
      aria-pressed={areRecordsShown}
      title="Show what programs note for themselves: state, usage, names, labels, and imports"
      onClick={() => go({ go: "records", areShown: !areRecordsShown })}
    >
      records <span class="filter-count">{formatCount(hidden)}</span>
    </button>
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
      {value} <span class="filter-count">{formatCount(choice.count)}</span>
    </button>
  );
}
