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

/** Milliseconds after the last key until the search begins. */
const PAUSE_MS = 120;

/** A search, the filters on it, and the ways through what they leave. */
export interface Search {
  /** What stands in the field. */
  readonly text: string;
  /** What was searched for: the text, once it has not changed for a moment. */
  readonly query: string;
  readonly filter: Filter;
  /** Whether there is a text to look for or a filter: only then there are hits. */
  readonly isActive: boolean;
  readonly hits: readonly SearchHit[];
  /** Whether there may be more hits than were found so far. */
  readonly isSearching: boolean;
  /** Why what stands in the field cannot be looked for; empty if it can. */
  readonly problem: string;
  /** Index of the hit that is looked at; -1 for none. */
  readonly current: number;
  /** What can be filtered by, and how many entries each would leave. */
  readonly choices: readonly CountedChoice[];
  readonly setText: (text: string) => void;
  readonly toggle: (choice: FilterChoice) => void;
  readonly clearFilter: () => void;
  /** Goes to a hit, around the ends, and opens what hides it; waits for one that may still be found. */
  readonly choose: (index: number) => void;
  /** Goes to the next hit, or to the one before: the last one if none is looked at. */
  readonly step: (direction: 1 | -1) => void;
}

/** Milliseconds that a search for words that few entries hold takes in a very large session. */
const MAX_SEARCHES_MS = 300;

/** What was found of a text so far. */
interface Found {
  readonly query: string;
  readonly hits: readonly SearchHit[];
  readonly isAll: boolean;
}

/** How far a search has come in a session that may grow. */
interface SearchProgress {
  readonly query: string;
  readonly labels: SessionModel["labels"];
  readonly hits: SearchHit[];
  /** How many entries were searched, in the order of the file. */
  passed: number;
}

const NO_HITS: readonly SearchHit[] = [];

/** Keeps a search through the session, and filters. */
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
  /** The hit that the reader wants to go to, as long as it is not found. */
  const awaited = useRef<number | undefined>(undefined);
  const choices = useMemo(() => filters.choices(filter), [filters, filter]);
  /** Tells whether that is another search. */
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
    // Who is quicker than the pause means what stands in the field, not what was searched for before.
    const isNew = searchFor(text.trim());
    // Without a search every entry is left, which is no result.
    if (text.trim() === "" && filter.length === 0) return;
    awaited.current = isNew ? 0 : wanted;
    if (!isNew) goToAwaited();
  };
  const goToAwaited = () => {
    const wanted = awaited.current;
    // Behind the hits that were found so far there may be more.
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
 * Searches in slices: what is found first is there at once, and all of it once the search is over; of a session that has grown,
 * only what came.
 */
function useFound(session: SessionModel, query: string): Found | undefined {
  const [found, setFound] = useState<Found>();
  const progress = useRef<SearchProgress>({ query: "", labels: session.labels, hits: [], passed: 0 });
  useLayoutEffect(() => {
    let isWanted = query !== "";
    const { labels } = session;
    // A label that is set later is found with its entry.
    if (progress.current.query !== query || !areEqual(progress.current.labels, labels))
      progress.current = { query, labels, hits: [], passed: 0 };
    const { hits } = progress.current;
    const search = async () => {
      // To draw the page once more would take longer than most searches.
      let isDue = sliceOfWork(MAX_SEARCHES_MS);
      for (const { hits: some, passed } of findEntries(session, query, progress.current.passed)) {
        hits.push(...some);
        progress.current.passed = passed;
        if (!isDue()) continue;
        // Of a session that has grown, those that were found before are shown till then.
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

/** Every entry as a hit in which nothing was looked for. */
function listAll({ tree }: SessionModel): SearchHit[] {
  return Array.from(tree.ordinals(), (ordinal) => ({ ordinal, match: undefined }));
}
