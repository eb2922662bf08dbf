import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Position } from "../model/navigation.ts";
import type { Search } from "./use-search.ts";
import { WIDE } from "./viewport.ts";

/** Part of the top bar that is open on a phone. */
export type Unfolded = "nothing" | "search" | "menu";

/** Dialog over the page. */
type OpenDialog = "none" | "help" | "commands" | "downloads";

/** Parts of the page that open and close around its view. */
export interface Panels {
  /** Whether the panel with the tree, or with the entries found, is shown. */
  readonly isTreeShown: boolean;
  readonly showTree: (isShown: boolean) => void;
  /** Whether all filters are shown in that panel. */
  readonly areFiltersShown: boolean;
  readonly showFilters: (areShown: boolean) => void;
  readonly dialog: OpenDialog;
  readonly showDialog: (dialog: OpenDialog) => void;
  readonly unfolded: Unfolded;
  readonly unfold: (part: Unfolded) => void;
  readonly searchField: RefObject<HTMLInputElement | null>;
}

/**
 * Maintains the open parts of the page: a search opens the panel, and on a phone, a step to an entry closes it.
 *
 * @param reveal - Latest scroll request of the reader's position.
 */
export function usePanels({ isActive, query }: Search, reveal: Position["reveal"]): Panels {
  const [isTreeShown, showTree] = useState(() => matchMedia(WIDE).matches);
  const [areFiltersShown, showFilters] = useState(false);
  const [dialog, showDialog] = useState<OpenDialog>("none");
  const [unfolded, unfold] = useState<Unfolded>("nothing");
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
    if (unfolded === "search") searchField.current?.focus();
  }, [unfolded]);
  return {
    isTreeShown,
    showTree,
    areFiltersShown,
    showFilters,
    dialog,
    showDialog,
    unfolded,
    unfold,
    searchField,
  };
}
