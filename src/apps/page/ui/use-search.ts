import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  type CountedChoice,
  type Filter,
  type FilterChoice,
  FilterIndex,
  toggleChoice,
} from "../model/filters.ts";
import type { Step } from "../model/navigation.ts";
import { findEntries, readQuery, type SearchHit } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Folds } from "./fold.tsx";
import { sliceOfWork, waitForOtherWork } from "./live-session.ts";

/** Milliseconds from the last keystroke to the start of the search. */
const PAUSE_MS = 120;

/** A search, its filters, and the navigation through the results. */
export interface Search {
  /** Text in the field. */
  readonly text: string;
  /** Current query: the typed text, once it has not changed for a moment. */
  readonly query: string;
  readonly filter: Filter;
  /** Whether there is a query or a filter; otherwise there are no hits. */
  readonly isActive: boolean;
  readonly hits: readonly SearchHit[];
  /** Whether more hits may still be found. */
  readonly isSearching: boolean;
  /** Reason why the query cannot be searched; empty if it can. */
  readonly problem: string;
  /** Index of the current hit; -1 if there is no current hit. */
  readonly current: number;
  /** Filters to choose from, and the number of entries that would remain with each. */
  readonly choices: readonly CountedChoice[];
  readonly setText: (text: string) => void;
  readonly toggle: (choice: FilterChoice) => void;
  readonly clearFilter: () => void;
  /** Goes to a hit, wrapping around, and opens the folds that hide it; waits for a hit that may still be found. */
  readonly choose: (index: number) => void;
  /** Goes to the next or the previous hit. Without a current hit, the previous hit is the last one. */
  readonly step: (direction: 1 | -1) => void;
}

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

/** Maintains a search of the session, and its filters. */
export function useSearch(session: SessionModel, folds: Folds, go: (step: Step) => void): Search {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const [filter, setFilter] = useState<Filter>([]);
  const [current, setCurrent] = useState(-1);
  const filters = useMemo(() => new FilterIndex(session), [session]);
  const searched = useRef("");
  const found = useFound(session, query);
  const isActive = query !== "" || filter.length > 0;
  const isSearching = query !== "" && !(found?.query === query && found.isAll);
  const hits = useMemo(() => {
    if (!isActive) return NO_HITS;
    const unfiltered = query === "" ? listAll(session) : found?.query === query ? found.hits : NO_HITS;
    return unfiltered.filter(({ ordinal }) => filters.isLeft(ordinal, filter));
  }, [isActive, session, found, query, filters, filter]);
  /** The requested hit, until it is found. */
  const awaited = useRef<number | undefined>(undefined);
  const choices = useMemo(() => filters.choices(filter), [filters, filter]);
  /** Starts a search; returns whether it differs from the current one. */
  const searchFor = (wanted: string): boolean => {
    if (searched.current === wanted) return false;
    searched.current = wanted;
    setQuery(wanted);
    setCurrent(-1);
    awaited.current = undefined;
    return true;
  };
  useEffect(() => {
    const timer = setTimeout(() => searchFor(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const changeFilter = (next: Filter) => {
    setFilter(next);
    setCurrent(-1);
  };
  const goTo = (wanted: number) => {
    const at = hits.length === 0 ? -1 : (wanted + hits.length) % hits.length;
    const hit = hits[at];
    if (hit === undefined) return;
    setCurrent(at);
    folds.setEntry(hit.ordinal, true);
    go({ go: "entry", ordinal: hit.ordinal, isHit: true });
  };
  const choose = (wanted: number) => {
    // If the reader acts before the pause ends, the text in the field counts, not the previous query.
    const isNew = searchFor(text.trim());
    // Without a query or filter all entries remain, and they do not count as hits.
    if (text.trim() === "" && filter.length === 0) return;
    awaited.current = isNew ? 0 : wanted;
    if (!isNew) goToAwaited();
  };
  const goToAwaited = () => {
    const wanted = awaited.current;
    // There may be more hits after those found so far.
    if (wanted === undefined || (isSearching && hits[wanted] === undefined)) return;
    awaited.current = undefined;
    goTo(wanted);
  };
  useEffect(goToAwaited, [hits, isSearching]);
  return {
    text,
    query,
    filter,
    isActive,
    hits,
    isSearching,
    problem: readQuery(query).problem,
    current,
    choices,
    setText,
    toggle: (choice) => changeFilter(toggleChoice(filter, choice)),
    clearFilter: () => changeFilter([]),
    choose,
    step: (direction) => choose(current === -1 && direction === -1 ? -1 : current + direction),
  };
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
