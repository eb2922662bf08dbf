import type { RefObject } from "preact";
import { type ChangeAddress, type IndexAddress, useIndexAddress } from "./index-address.ts";
import { type Contents, useContents } from "./use-server.ts";

/** The reader's choices in the list, and the content search. */
export interface IndexSearch {
  readonly address: IndexAddress;
  readonly change: ChangeAddress;
  /** Text in the field: the query of the content search, or the filter. */
  readonly text: string;
  readonly contents: Contents;
  readonly setText: (text: string) => void;
  /** Searches session contents for the text. */
  readonly search: () => void;
}

/**
 * Filters the list while the reader types, and searches contents on request.
 *
 * @param main - Scrolls to its top before a search.
 */
export function useIndexSearch(searchUrl: string, main: RefObject<HTMLElement | null>): IndexSearch {
  const [address, change] = useIndexAddress();
  const { search: wanted, filter = "" } = address;
  const text = wanted ?? filter;
  const [contents, searchAgain] = useContents(searchUrl, wanted);
  const search = () => {
    const looked = text.trim();
    if (looked === "") return;
    if (main.current !== null) main.current.scrollTop = 0;
    if (looked === wanted) searchAgain();
    else change({ search: looked, filter: undefined }, true);
  };
  const setText = (value: string) => change({ filter: value || undefined, search: undefined });
  return { address, change, text, contents, setText, search };
}
