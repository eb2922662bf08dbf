import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type CountedChoice, type Filter, FilterIndex } from "../model/filters.ts";
import { findEntries, type SearchHit } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import { sliceOfWork, waitForOtherWork } from "./live-session.ts";

/** Milliseconds that a search for rare words takes in a very large session. */
const MAX_SEARCHES_MS = 300;

/** Hits of a query so far. */
interface Found {
  readonly query: string;
  readonly hits: readonly SearchHit[];
  readonly isAll: boolean;
}

/** Progress of a search in a session that may grow. */
interface SearchProgress {
  readonly query: string;
  readonly labels: SessionModel["labels"];
  readonly hits: SearchHit[];
  /** Number of entries searched, in file order. */
  passed: number;
}

const NO_HITS: readonly SearchHit[] = [];

/** Hits of a query and a filter, so far. */
export interface Hits {
  /** Whether there is a query or a filter; otherwise there are no hits. */
  readonly isActive: boolean;
  readonly hits: readonly SearchHit[];
  /** Whether more hits may still be found. */
  readonly isSearching: boolean;
  /** Filters to choose from, and the number of entries that would remain with each. */
  readonly choices: readonly CountedChoice[];
}

/** Finds the entries that match a query and a filter. */
export function useHits(session: SessionModel, query: string, filter: Filter): Hits {
  const filters = useMemo(() => new FilterIndex(session), [session]);
  const found = useFound(session, query);
  const isActive = query !== "" || filter.length > 0;
  const isSearching = query !== "" && !(found?.query === query && found.isAll);
  const hits = useMemo(() => {
    if (!isActive) return NO_HITS;
    const unfiltered = query === "" ? listAll(session) : found?.query === query ? found.hits : NO_HITS;
    return unfiltered.filter(({ ordinal }) => filters.isLeft(ordinal, filter));
  }, [isActive, session, found, query, filters, filter]);
  const choices = useMemo(() => filters.choices(filter), [filters, filter]);
  return { isActive, hits, isSearching, choices };
}

/**
 * Searches in slices: the first hits appear immediately, and all hits after the search ends; in a session that has grown, only
 * new entries are searched.
 */
function useFound(session: SessionModel, query: string): Found | undefined {
  const [found, setFound] = useState<Found>();
  const progress = useRef<SearchProgress>({ query: "", labels: session.labels, hits: [], passed: 0 });
  useLayoutEffect(() => {
    let isWanted = query !== "";
    const { labels } = session;
    // An entry that gets a label later must be found by it, so changed labels restart the search.
    if (progress.current.query !== query || !areEqual(progress.current.labels, labels))
      progress.current = { query, labels, hits: [], passed: 0 };
    const { hits } = progress.current;
    const search = async () => {
      // Redrawing the page would take longer than most searches.
      let isDue = sliceOfWork(MAX_SEARCHES_MS);
      for (const { hits: some, passed } of findEntries(session, query, progress.current.passed)) {
        hits.push(...some);
        progress.current.passed = passed;
        if (!isDue()) continue;
        // In a session that has grown, the previous hits are shown until then.
        if (hits.length > 0)
          setFound((before) => (before?.query === query ? before : { query, hits: [...hits], isAll: false }));
        await waitForOtherWork();
        if (!isWanted) return;
        isDue = sliceOfWork();
      }
      setFound({ query, hits: [...hits], isAll: true });
    };
    if (isWanted) void search();
    return () => {
      isWanted = false;
    };
  }, [session, query]);
  return found;
}

function areEqual(labels: SessionModel["labels"], others: SessionModel["labels"]): boolean {
  return labels.size === others.size && [...labels].every(([ordinal, one]) => others.get(ordinal) === one);
}

/** Returns every entry as a hit without a match. */
function listAll({ tree }: SessionModel): SearchHit[] {
  return Array.from(tree.ordinals(), (ordinal) => ({ ordinal, match: undefined }));
}
