import type { SessionFile } from "../../session/files/session-files.ts";
import type { CatalogRun } from "../list/catalog-run.ts";
import { isFromSource, readImportOrigin } from "../list/deleted-imports.ts";
import { hasGrams } from "../list/gram-filter.ts";
import type { SearchPlan } from "../query/entry-search.ts";

/** Returns whether a file may contain the required text, based on its filter. */
export function mayHold({ cache, pace }: CatalogRun, file: SessionFile, grams: Int32Array): boolean {
  pace.check();
  const filter = grams.length === 0 ? undefined : cache.getFilter(file, file);
  return filter === undefined || hasGrams(filter, grams);
}

/** Returns whether a session was imported from the requested program. */
export function isFrom(path: string, { filters: { source } }: SearchPlan): boolean {
  return source === undefined || isFromSource(readImportOrigin(path), source);
}
