import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Position } from "../model/navigation.ts";
import type { Search } from "./use-search.ts";
import { WIDE } from "./viewport.ts";

/** Part of the top bar that is open on a phone. */
export type Unfolded = "nothing" | "search" | "menu";

/** Dialog over the page. */
type OpenDialog = "none" | "help" | "commands" | "downloads";

/** Value of a state, and the function that changes it. */
type State<T> = readonly [value: T, change: (value: T) => void];

/** Parts of the page that open and close around its view. */
export interface Panels {
  /** Whether the panel with the tree, or with the entries found, is shown. */
  readonly tree: State<boolean>;
  /** Whether all filters are shown in that panel. */
  readonly filters: State<boolean>;
  readonly dialog: State<OpenDialog>;
  readonly unfolded: State<Unfolded>;
  readonly searchField: RefObject<HTMLInputElement | null>;
}

/**
 * Maintains the open parts of the page: a search opens the panel, and on a phone, a step to an entry closes it.
 *
 * @param reveal - Latest scroll request of the reader's position.
 */
export function usePanels({ isActive, query }: Search, reveal: Position["reveal"]): Panels {
  const tree = useState(() => matchMedia(WIDE).matches);
  const filters = useState(false);
  const dialog = useState<OpenDialog>("none");
  const unfolded = useState<Unfolded>("nothing");
  const [, showTree] = tree;
  const [part] = unfolded;
  const searchField = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isActive) showTree(true);
  }, [isActive, query]);
  // On a phone the tree covers the conversation, so it closes after a choice.
  useEffect(() => {
    if (reveal !== undefined && !matchMedia(WIDE).matches) showTree(false);
  }, [reveal]);
  // Before the next key, which is the first letter of the search.
  useLayoutEffect(() => {
    if (part === "search") searchField.current?.focus();
  }, [part]);
  return { tree, filters, dialog, unfolded, searchField };
}
