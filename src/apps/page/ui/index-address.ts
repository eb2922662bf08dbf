import { useEffect, useState } from "preact/hooks";
import { listenToWindow } from "./listen-to-window.ts";

/** The reader's choices in the list, as stored in the page's address; undefined if nothing was chosen. */
export interface IndexAddress {
  readonly project?: string | undefined;
  readonly source?: string | undefined;
  readonly time?: string | undefined;
  readonly sort?: string | undefined;
  /** Words to find in titles, projects, and ids. */
  readonly filter?: string | undefined;
  /** Words to find in contents, instead of a filter. */
  readonly search?: string | undefined;
}

const NAMES = ["project", "source", "time", "sort", "filter", "search"] as const;

/** Changes the address; adds a step to the browser's history if Back should restore the previous one. */
export type ChangeAddress = (change: IndexAddress, isStep?: boolean) => void;

/** Keeps the reader's choices in the address, so that they are restored when the reader returns to the page. */
export function useIndexAddress(): [IndexAddress, ChangeAddress] {
  const [address, setAddress] = useState(readIndexAddress);
  useEffect(() => listenToWindow("hashchange", () => setAddress(readIndexAddress())), []);
  const change: ChangeAddress = (changed, isStep = false) => {
    const next = { ...address, ...changed };
    const parts = new URLSearchParams(NAMES.flatMap((name) => (next[name] ? [[name, next[name]]] : [])));
    const url = parts.size === 0 ? location.pathname : `#${parts}`;
    if (isStep) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    setAddress(next);
  };
  return [address, change];
}

function readIndexAddress(): IndexAddress {
  const parts = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, parts.get(name) ?? undefined]));
}
