import { getFolderName } from "../../../core/facts/session-title.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { type IndexUsage, PERIODS } from "../model/index-usage.ts";
import { type ListedSession, SORTS } from "../model/session-list.ts";
import type { IndexAddress } from "./index-address.ts";

/** Placeholder for the source of sessions that were not imported. */
export const NOT_IMPORTED = "not imported";

/** Name of the order without a search. */
const LATEST = "latest first";

interface ChoiceBarProps {
  readonly sessions: readonly ListedSession[];
  readonly usage: IndexUsage | undefined;
  readonly choices: IndexAddress;
  readonly onChange: (change: IndexAddress) => void;
}

/** Controls that filter sessions by project, source, and time, and set their order. */
export function ChoiceBar({ sessions, usage, choices, onChange }: ChoiceBarProps) {
  const projects = groupBy(sessions, ({ cwd }) => cwd);
  projects.delete("");
  const byName = [...projects.keys()].map((cwd): Option => [cwd, getFolderName(cwd), cwd]);
  // The best matches come first unless the reader chooses another order.
  const isSearch = choices.search !== undefined;
  const orders = SORTS.slice(1).map((sort): Option => [sort, `by ${sort}`]);
  if (isSearch) orders.unshift([SORTS[0], LATEST]);
  const sources = new Set(Array.from(usage?.sources.values() ?? [], (source) => source || NOT_IMPORTED));
  return (
    <>
      <Choice
        name="Project"
        any="all projects"
        options={byName.sort(([, a], [, b]) => a.localeCompare(b))}
        chosen={choices.project}
        onChoose={(project) => onChange({ project })}
      />
      <Choice
        name="Source"
        any="all sources"
        options={[...sources].sort().map((source) => [source, source])}
        chosen={choices.source}
        onChoose={(source) => onChange({ source })}
      />
      <Choice
        name="Time"
        any="all time"
        options={PERIODS.map((period) => [period, period])}
        chosen={choices.time}
        onChoose={(time) => onChange({ time })}
      />
      <Choice
        name="Order"
        any={isSearch ? "best first" : LATEST}
        options={orders}
        chosen={!isSearch && choices.sort === SORTS[0] ? undefined : choices.sort}
        onChoose={(sort) => onChange({ sort })}
      />
    </>
  );
}

type Option = readonly [value: string, word: string, hint?: string];

interface ChoiceProps {
  readonly name: string;
  /** Label of the option that selects nothing. */
  readonly any: string;
  readonly options: readonly Option[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: string | undefined) => void;
}

/** Selects one of many options, or none. An option from the address is included even if no session has it. */
function Choice({ name, any, options, chosen, onChoose }: ChoiceProps) {
  const isListed = chosen === undefined || options.some(([value]) => value === chosen);
  const all = isListed ? options : [...options, [chosen, chosen] as const];
  return (
    <label class={chosen === undefined ? "choice" : "choice is-chosen"}>
      <span class="sr-only">{name}</span>
      <select
        value={chosen ?? ""}
        onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}
      >
        <option value="">{any}</option>
        {all.map(([value, word, hint]) => (
          <option key={value} value={value} title={hint}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
