import { counted } from "../../../core/facts/number-text.ts";
import { resultToolName } from "../../../core/facts/tool-calls.ts";
import { outcomeOf } from "../../../core.ts";
import { failureLine } from "../model/failure-line.ts";
import type { PathView } from "../model/path-items.ts";
import { type SearchHit, snippetOf } from "../model/search.ts";
import { kindAt } from "../model/session-model.ts";
import { usePage } from "./page-context.ts";
import { useJump, VirtualList } from "./virtual-list.tsx";

interface SearchPanelProps {
  readonly hits: readonly SearchHit[];
  /** Whether there may be more. */
  readonly isSearching: boolean;
  /** Why nothing can be looked for; empty if something can. */
  readonly problem: string;
  /** Index of the hit that is looked at; -1 for none. */
  readonly current: number;
  readonly path: PathView;
  readonly onChoose: (index: number) => void;
}

/** What was found, in the order of the file. */
export function SearchPanel({ hits, isSearching, problem, current, path, onChoose }: SearchPanelProps) {
  const { session } = usePage();
  const jump = useJump(current, current);
  return (
    <>
      <div class="panel-bar">
        <span class="panel-facts" role="status">
          {problem ||
            (isSearching
              ? `Searching: ${counted(hits.length, "entry", "entries")} found so far`
              : hits.length === 0
                ? "Nothing found"
                : counted(hits.length, "entry found", "entries found"))}
        </span>
      </div>
      <VirtualList
        class="hits"
        label="Entries found"
        items={hits}
        keyOf={({ ordinal }) => ordinal}
        estimate={() => 66}
        jump={jump}
        render={(hit, index) => {
          const { ordinal } = hit;
          const [before, match, after] = snippetOf(session, hit);
          const entry = session.entryAt(ordinal);
          // Behind what was asked for, what came of it; where a text was looked for, that says why this was found.
          const failure = match === "" ? failureLine(entry) : "";
          const { tone, word } = kindAt(session, ordinal);
          const outcome = entry === undefined ? undefined : outcomeOf(entry);
          const tool = resultToolName(entry);
          const label = session.labels.get(ordinal);
          return (
            <button
              type="button"
              class={`hit tone-${tone} ${outcome === undefined ? "" : `is-${outcome}`} ${index === current ? "is-current" : ""}`}
              aria-current={index === current}
              onClick={() => onChoose(index)}
            >
              <span class="hit-kind">
                {tool === "" ? word : `${word}: ${tool}`}
                {outcome !== undefined && <span class={`chip is-${outcome}`}>{outcome}</span>}
                {label !== undefined && <span class="chip is-label">{label}</span>}
                {!path.indices.has(ordinal) && <span class="chip">other branch</span>}
              </span>
              <span class={failure === "" ? "hit-text" : "hit-text is-one-line"}>
                {before}
                {match !== "" && <mark>{match}</mark>}
                {after}
              </span>
              {failure !== "" && failure !== before && <span class="hit-text is-failure">{failure}</span>}
            </button>
          );
        }}
      />
    </>
  );
}
