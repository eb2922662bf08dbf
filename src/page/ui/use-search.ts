import { useEffect, useMemo, useState } from "preact/hooks";
import type { Step } from "../model/navigation.ts";
import { type SearchHit, SearchIndex } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Folds } from "./folds.ts";

/** Milliseconds after the last key until the search begins. */
const PAUSE_MS = 120;

/** A search, and the ways through what it found. */
export interface Search {
  /** What stands in the field. */
  readonly text: string;
  /** What was searched for: the text, once nobody has written for a moment. */
  readonly query: string;
  readonly hits: readonly SearchHit[];
  /** Index of the hit that is looked at; -1 for none. */
  readonly current: number;
  readonly setText: (text: string) => void;
  /** Goes to a hit, around the ends, and opens what hides it. */
  readonly choose: (index: number) => void;
}

/** Keeps a search through the session. */
export function useSearch(session: SessionModel, folds: Folds, go: (step: Step) => void): Search {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState(-1);
  const index = useMemo(() => new SearchIndex(session), [session]);
  const hits = useMemo(() => index.find(query), [index, query]);
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuery(text.trim());
      setCurrent(-1);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const choose = (wanted: number) => {
    const at = hits.length === 0 ? -1 : (wanted + hits.length) % hits.length;
    const hit = hits[at];
    if (hit === undefined) return;
    setCurrent(at);
    folds.setEntry(hit.ordinal, true);
    go({ go: "entry", ordinal: hit.ordinal });
  };
  return { text, query, hits, current, setText, choose };
}
