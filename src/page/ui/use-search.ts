import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { titleOfEntry } from "../../view/entry-title.ts";
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
  /** Why what stands in the field cannot be looked for; empty if it can. */
  readonly problem: string;
  /** Index of the hit that is looked at; -1 for none. */
  readonly current: number;
  /** What can be filtered by, and how many entries each would leave. */
  readonly choices: readonly CountedChoice[];
  readonly setText: (text: string) => void;
  readonly toggle: (choice: FilterChoice) => void;
  readonly clearFilter: () => void;
  /** Goes to a hit, around the ends, and opens what hides it. */
  readonly choose: (index: number) => void;
}

/** Keeps a search through the session, and filters. */
export function useSearch(session: SessionModel, folds: Folds, go: (step: Step) => void): Search {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const [filter, setFilter] = useState<Filter>([]);
  const [current, setCurrent] = useState(-1);
  const filters = useMemo(() => new FilterIndex(session), [session]);
  const searched = useRef("");
  const hitsOf = (wanted: string) => {
    const found = wanted === "" ? allOf(session) : findEntries(session, wanted);
    return found.filter(({ ordinal }) => filters.isLeft(ordinal, filter));
  };
  const isActive = query !== "" || filter.length > 0;
  const hits = useMemo(() => (isActive ? hitsOf(query) : []), [session, query, filters, filter]);
  const choices = useMemo(() => filters.choices(filter), [filters, filter]);
  /** Tells whether that is another search. */
  const searchFor = (wanted: string): boolean => {
    if (searched.current === wanted) return false;
    searched.current = wanted;
    setQuery(wanted);
    return true;
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      if (searchFor(text.trim())) setCurrent(-1);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const changeFilter = (next: Filter) => {
    setFilter(next);
    setCurrent(-1);
  };
  const choose = (wanted: number) => {
    // Who is quicker than the pause means what stands in the field, not what was searched for before.
    const isNew = searchFor(text.trim());
    const list = isNew ? hitsOf(text.trim()) : hits;
    // Without a search every entry is left, which is no result.
    if (text.trim() === "" && filter.length === 0) return;
    const next = isNew ? 0 : wanted;
    const at = list.length === 0 ? -1 : (next + list.length) % list.length;
    const hit = list[at];
    if (hit === undefined) return;
    setCurrent(at);
    folds.setEntry(hit.ordinal, true);
    go({ go: "entry", ordinal: hit.ordinal, isHit: true });
  };
  return {
    text,
    query,
    filter,
    isActive,
    hits,
    problem: readQuery(query).problem,
    current,
    choices,
    setText,
    toggle: (choice) => changeFilter(toggleChoice(filter, choice)),
    clearFilter: () => changeFilter([]),
    choose,
  };
}

/** Every entry as a hit in which nothing was looked for. */
function allOf(session: SessionModel): SearchHit[] {
  return Array.from(session.tree.ordinals(), (ordinal) => ({
    ordinal,
    // Only of what is drawn, which is little of much.
    get snippet(): SearchHit["snippet"] {
      return [titleOfEntry(session, ordinal), "", ""];
    },
  }));
}
