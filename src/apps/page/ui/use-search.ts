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
  const [filter, setFilter] = useState<Filter>([]);
  const [current, setCurrent] = useState(-1);
  /** The requested hit, until it is found. */
  const awaited = useRef<number | undefined>(undefined);
  const { text, query, setText, searchNow } = useQuery(() => {
    setCurrent(-1);
    awaited.current = undefined;
  });
  const found = useHits(session, query, filter);
  const { hits, isSearching } = found;
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
    goTo(wanted);
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

/** Text in the search field, and the query that follows it. */
interface TypedQuery extends Pick<Search, "text" | "query" | "setText"> {
  /** Starts the search for the text, without a pause; returns whether it differs from the current one. */
  readonly searchNow: () => boolean;
}

/**
 * Turns the typed text into a query after a pause.
 *
 * @param onNew - Called when the query changes.
 */
function useQuery(onNew: () => void): TypedQuery {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const searched = useRef("");
  const searchNow = () => {
    const wanted = text.trim();
    if (searched.current === wanted) return false;
    searched.current = wanted;
    setQuery(wanted);
    onNew();
    return true;
  };
  useEffect(() => {
    const timer = setTimeout(searchNow, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { text, query, setText, searchNow };
}
