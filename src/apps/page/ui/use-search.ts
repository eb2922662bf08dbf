import { useEffect, useRef, useState } from "preact/hooks";
import { type Filter, type FilterChoice, toggleChoice } from "../model/filters.ts";
import type { Step } from "../model/navigation.ts";
import { readQuery } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Folds } from "./fold.tsx";
import { type Hits, useHits } from "./use-hits.ts";

/** Milliseconds from the last keystroke to the start of the search. */
const PAUSE_MS = 120;

/** A search, its filters, and the navigation through the results. */
export interface Search extends Hits {
  /** Text in the field. */
  readonly text: string;
  /** Current query: the typed text, once it has not changed for a moment. */
  readonly query: string;
  readonly filter: Filter;
  /** Reason why the query cannot be searched; empty if it can. */
  readonly problem: string;
  /** Index of the current hit; -1 if there is no current hit. */
  readonly current: number;
  readonly setText: (text: string) => void;
  readonly toggle: (choice: FilterChoice) => void;
  readonly clearFilter: () => void;
  /** Goes to a hit, wrapping around, and opens the folds that hide it; waits for a hit that may still be found. */
  readonly choose: (index: number) => void;
  /** Goes to the next or the previous hit. Without a current hit, the previous hit is the last one. */
  readonly step: (direction: 1 | -1) => void;
}

/** Maintains a search of the session, and its filters. */
export function useSearch(session: SessionModel, folds: Folds, go: (step: Step) => void): Search {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const [filter, setFilter] = useState<Filter>([]);
  const [current, setCurrent] = useState(-1);
  const searched = useRef("");
  const found = useHits(session, query, filter);
  const { hits, isSearching } = found;
  /** The requested hit, until it is found. */
  const awaited = useRef<number | undefined>(undefined);
  /** Starts a search for the text; returns whether it differs from the current one. */
  const searchNow = (): boolean => {
    const wanted = text.trim();
    if (searched.current === wanted) return false;
    searched.current = wanted;
    setQuery(wanted);
    setCurrent(-1);
    awaited.current = undefined;
    return true;
  };
  usePause(text, searchNow);
  const changeFilter = (next: Filter) => {
    setFilter(next);
    setCurrent(-1);
  };
  const choose = (wanted: number) => {
    // If the reader acts before the pause ends, the text in the field counts, not the previous query.
    const isNew = searchNow();
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
    const at = hits.length === 0 ? -1 : (wanted + hits.length) % hits.length;
    const hit = hits[at];
    if (hit === undefined) return;
    setCurrent(at);
    folds.setEntry(hit.ordinal, true);
    go({ go: "entry", ordinal: hit.ordinal, isHit: true });
  };
  useEffect(goToAwaited, [hits, isSearching]);
  return {
    ...found,
    text,
    query,
    filter,
    problem: readQuery(query).problem,
    current,
    setText,
    toggle: (choice) => changeFilter(toggleChoice(filter, choice)),
    clearFilter: () => changeFilter([]),
    choose,
    step: (direction) => choose(current === -1 && direction === -1 ? -1 : current + direction),
  };
}

/** Calls a function when a text has not changed for a moment. */
function usePause(text: string, onPause: () => void): void {
  useEffect(() => {
    const timer = setTimeout(onPause, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
}
