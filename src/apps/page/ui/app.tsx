import { useEffect, useMemo, useState } from "preact/hooks";
import { isConversationShown } from "../model/navigation.ts";
import { viewPath } from "../model/path-items.ts";
import { makeFinder } from "../model/search.ts";
import { findShownEnd } from "../model/shown-items.ts";
import { toggleTheme } from "./controls.tsx";
import { EntryPanel } from "./entry-panel.tsx";
import { FoldsContext } from "./fold.tsx";
import { makePanelCommands, makeStepCommands, toggleFocusedEntry } from "./key-commands.ts";
import { useKeys } from "./keys.ts";
import type { LiveSession } from "./live-session.ts";
import { PageContext, useCopy } from "./page-context.ts";
import { PageDialog } from "./page-dialog.tsx";
import { SessionView } from "./session-view.tsx";
import { TopBar } from "./top-bar.tsx";
import { useFollowing } from "./use-following.ts";
import { usePageFolds } from "./use-page-folds.ts";
import { usePanels } from "./use-panels.ts";
import { usePathTurns } from "./use-path-turns.ts";
import { usePosition } from "./use-position.ts";
import { usePreparedViews } from "./use-prepared-views.ts";
import { usePrinting } from "./use-printing.tsx";
import { useSearch } from "./use-search.ts";
import { Sight } from "./viewport.ts";

interface AppProps {
  readonly live: LiveSession;
  /** Path of the session's file. */
  readonly path: string;
  /** Initial end of the path. */
  readonly opening: number;
  /** Address of the session list, if any. */
  readonly indexUrl: string | undefined;
}

/** Page of a session. */
export function App({ live, path: file, opening, indexUrl }: AppProps) {
  const { session, listed, following, wasAtEnd } = live;
  const [position, go] = usePosition(session, opening);
  useFollowing(session, wasAtEnd, position, go);
  const [sight] = useState(() => new Sight());
  const reader = { position, go, sight };
  const [folds, toggleAll] = usePageFolds(session, position);
  const search = useSearch(session, folds, position.focus, go);
  const path = useMemo(() => viewPath(session, position.end), [session, position.end]);
  const [copy, said, say] = useCopy();
  const turns = usePathTurns(session, position);
  const { query } = search;
  const { areRecordsShown = false } = position;
  const page = useMemo(() => {
    const shownLeaf = findShownEnd(session, session.leaf, { areRecordsShown });
    const find = makeFinder(query);
    return { session, listed, path: file, go, find, copy, turns, areRecordsShown, shownLeaf };
  }, [session, listed, file, go, query, copy, turns, areRecordsShown]);
  useEffect(() => {
    document.title = `${session.title} · sessiontree`;
  }, [session]);
  const panels = usePanels(search, position.reveal);
  usePrinting(page, path);
  usePreparedViews(session, path);
  useKeys(isConversationShown(position), {
    ...makeStepCommands(session, reader),
    ...makePanelCommands(search, panels),
    toggleEntry: () => toggleFocusedEntry(folds, reader, say),
    toggleAll,
    theme: toggleTheme,
  });
  const [isTreeShown] = panels.tree;
  return (
    <PageContext.Provider value={page}>
      <FoldsContext.Provider value={folds}>
        <div class={`page has-open-${panels.unfolded[0]} ${isTreeShown ? "" : "has-no-panel"}`}>
          <TopBar
            view={position.view}
            search={search}
            panels={panels}
            onFolds={toggleAll}
            following={following}
            indexUrl={indexUrl}
          />
          {isTreeShown && <EntryPanel path={path} sight={sight} search={search} panels={panels} />}
          <main>
            <SessionView path={path} reader={reader} wasAtEnd={wasAtEnd} />
          </main>
          <p class={said === "" ? "toast" : "toast is-shown"} role="status">
            {said}
          </p>
          <PageDialog panels={panels} position={position} />
        </div>
      </FoldsContext.Provider>
    </PageContext.Provider>
  );
}
