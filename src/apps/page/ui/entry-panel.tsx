import { formatCounted } from "../../../core/facts/number-text.ts";
import type { PathView } from "../model/path-items.ts";
import { usePage } from "./page-context.ts";
import { FilterBar, SearchPanel } from "./search-panel.tsx";
import { TreePanel } from "./tree-panel.tsx";
import type { Panels } from "./use-panels.ts";
import type { Search } from "./use-search.ts";
import type { Sight } from "./viewport.ts";

interface EntryPanelProps {
  readonly path: PathView;
  readonly sight: Sight;
  readonly search: Search;
  readonly panels: Panels;
}

/** Panel with the filters, and the tree or the entries found. */
export function EntryPanel({ path, sight, search, panels }: EntryPanelProps) {
  const { session } = usePage();
  const [areFiltersShown, showFilters] = panels.filters;
  return (
    <aside class="panel" aria-label="Entries">
      <FilterBar search={search} isOpen={areFiltersShown} onToggle={() => showFilters(!areFiltersShown)} />
      {!session.isWhole ? (
        <p class="empty" role="status">
          Reading {formatCounted(session.size, "entry", "entries")} …
        </p>
      ) : !search.isActive ? (
        <TreePanel path={path} sight={sight} />
      ) : (
        <SearchPanel {...search} path={path} onChoose={search.choose} />
      )}
    </aside>
  );
}
