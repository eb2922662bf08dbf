import { useEffect, useRef, useState } from "preact/hooks";
import { type Filter, type FilterChoice, toggleChoice } from "../model/filters.ts";
import type { Step } from "../model/navigation.ts";
import { readAddressQuery, withQuery } from "../model/query-address.ts";
import { readQuery, type SearchHit } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Folds } from "./fold.tsx";
import { listenToWindow } from "./listen-to-window.ts";
import { type Hits, useHits } from "./use-hits.ts";
import { makeAddress } from "./use-position.ts";

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

/** Returns the index of a requested hit, counted from the end if negative; NaN if it is not found. */
type FindIndex = (hits: readonly SearchHit[], focus: number) => number;

function indexOfEntry(hits: readonly SearchHit[], entry: number): number {
  const index = hits.findIndex(({ ordinal }) => ordinal === entry);
  return index === -1 ? Number.NaN : index;
}

/**
 * Maintains a search of the session, and its filters. The address contains the query, so that the list of sessions can open a
 * hit with its query.
 *
 * @param focus - The focused entry; NONE if no entry is focused.
 */
export function useSearch(
  session: SessionModel,
  folds: Folds,
  focus: number,
  go: (step: Step) => void,
): Search {
  const [text, setText] = useState(() => readAddressQuery(location.hash));
  const [query, setQuery] = useState(text);
  const [filter, setFilter] = useState<Filter>([]);
  const [current, setCurrent] = useState(-1);
  const searched = useRef(query);
  const found = useHits(session, query, filter);
  const [awaited, goToAwaited] = useAwaitedHit(found, query, focus, (at, { ordinal }) => {
    setCurrent(at);
    folds.setEntry(ordinal, true);
    go({ go: "entry", ordinal, isHit: true });
  });
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
  useAddress(query, setText);
  const changeFilter = (next: Filter) => {
    setFilter(next);
    setCurrent(-1);
  };
  const choose = (wanted: number) => {
    // If the reader acts before the pause ends, the text in the field counts, not the previous query.
    const isNew = searchNow();
    // Without a query or filter all entries remain, and they do not count as hits.
    if (text.trim() === "" && filter.length === 0) return;
    awaited.current = () => (isNew ? 0 : wanted);
    if (!isNew) goToAwaited();
  };
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

/**
 * Goes to the requested hit as soon as it is found; at first, to the entry that was opened with the query, unless the reader moves on.
 *
 * @returns The requested hit, and a function that goes to it.
 */
function useAwaitedHit(
  { hits, isSearching }: Hits,
  query: string,
  focus: number,
  goTo: (index: number, hit: SearchHit) => void,
): [{ current: FindIndex | undefined }, () => void] {
  const awaited = useRef<FindIndex | undefined>(
    query === "" ? undefined : (some, now) => (now === focus ? indexOfEntry(some, focus) : Number.NaN),
  );
  const goToAwaited = () => {
    const wanted = awaited.current?.(hits, focus);
    // There may be more hits after those found so far.
    if (wanted === undefined || (isSearching && hits[wanted] === undefined)) return;
    awaited.current = undefined;
    const at = (wanted + hits.length) % hits.length;
    const hit = hits[at];
    if (hit !== undefined) goTo(at, hit);
  };
  useEffect(goToAwaited, [hits, isSearching]);
  return [awaited, goToAwaited];
}

/** Writes the query to the address, and reads it when the reader changes the address. */
function useAddress(query: string, setText: (text: string) => void): void {
  useEffect(() => {
    const { hash } = location;
    if (readAddressQuery(hash) !== query) history.replaceState(null, "", makeAddress(withQuery(hash, query)));
  }, [query]);
  useEffect(() => listenToWindow("hashchange", () => setText(readAddressQuery(location.hash))), []);
}

/** Calls a function when a text has not changed for a moment. */
function usePause(text: string, onPause: () => void): void {
  useEffect(() => {
    const timer = setTimeout(onPause, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
}
