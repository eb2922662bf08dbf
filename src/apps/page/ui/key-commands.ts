import { NONE } from "../../../core/tree/entry-tree.ts";
import { getSubject } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Folds } from "./fold.tsx";
import type { KeyCommands } from "./keys.ts";
import { goToFailure, type Reader } from "./reader.ts";
import type { Panels } from "./use-panels.ts";
import type { Search } from "./use-search.ts";
import { WIDE } from "./viewport.ts";

/** Makes the commands that move between entries, branches, and views. */
export function makeStepCommands(session: SessionModel, reader: Reader): KeyCommands {
  const { position, go, sight } = reader;
  const { focus, view } = position;
  const subject = getSubject(position);
  const step = (direction: 1 | -1, only?: "user") => go({ go: "by", direction, from: sight.ordinal, only });
  return {
    nextFailure: () => goToFailure(session, reader, 1),
    previousFailure: () => goToFailure(session, reader, -1),
    next: () => step(1),
    previous: () => step(-1),
    nextTurn: () => step(1, "user"),
    previousTurn: () => step(-1, "user"),
    first: () => go({ go: "first" }),
    last: () => go({ go: "last" }),
    nextBranch: () => go({ go: "branch", direction: 1 }),
    previousBranch: () => go({ go: "branch", direction: -1 }),
    toggleModelView: () => {
      if (subject !== position.asked) go({ go: "context", ordinal: subject });
      else go(view === "model" ? { go: "whole" } : { go: "view", view: "model" });
    },
    usage: () => go({ go: "view", view: view === "usage" ? "path" : "usage" }),
    endHere: () => focus !== NONE && go({ go: "end", ordinal: focus }),
    leaf: () => go({ go: "end", ordinal: session.leaf }),
  };
}

/**
 * Opens or closes the focused entry; without a focus, the first entry in view.
 *
 * @param say - Shows a status message.
 */
export function toggleFocusedEntry(
  folds: Folds,
  { position: { focus }, go, sight }: Reader,
  say: (said: string) => void,
): void {
  const ordinal = focus === NONE ? sight.ordinal : focus;
  if (focus === NONE) go({ go: "mark", ordinal });
  if (!folds.toggleEntry(ordinal)) say("Nothing to open here");
}

/** Makes the commands of the search, and those that open and close parts around the view. */
export function makePanelCommands(search: Search, panels: Panels): KeyCommands {
  const { searchField } = panels;
  const [isTreeShown, showTree] = panels.tree;
  const [areFiltersShown, showFilters] = panels.filters;
  const [, showDialog] = panels.dialog;
  const [, unfold] = panels.unfolded;
  return {
    filters: () => {
      showTree(true);
      showFilters(!areFiltersShown || !isTreeShown);
    },
    search: () => {
      unfold("search");
      searchField.current?.focus();
    },
    nextHit: () => search.step(1),
    previousHit: () => search.step(-1),
    tree: () => showTree(!isTreeShown),
    commands: () => showDialog("commands"),
    help: () => showDialog("help"),
    escape: () => {
      searchField.current?.blur();
      unfold("nothing");
      if (search.text !== "") search.setText("");
      else if (search.filter.length > 0) search.clearFilter();
      else if (!matchMedia(WIDE).matches) showTree(false);
    },
  };
}
