import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { isFailure } from "../../text/entry-kind.ts";
import { makeEntryRows } from "../model/conversation-rows.ts";
import { formatDateAndTime } from "../model/format.ts";
import { findNextFailure, getSubject, type Position, type Step } from "../model/navigation.ts";
import { type PathView, viewPath } from "../model/path-items.ts";
import { makeFinder } from "../model/search.ts";
import { getPathTo, type SessionModel } from "../model/session-model.ts";
import { findShownEnd, listShownItems } from "../model/shown-items.ts";
import { PathTurns } from "../model/turns.ts";
import { ChangesView } from "./changes-view.tsx";
import { PrintContext } from "./code.tsx";
import { Commands } from "./commands.tsx";
import { toggleTheme } from "./controls.tsx";
import { Conversation } from "./conversation.tsx";
import { Downloads } from "./downloads.tsx";
import { EntryCard } from "./entry-card.tsx";
import { Folds, FoldsContext } from "./fold.tsx";
import { Help, SIGNS } from "./help.tsx";
import { IssuesView } from "./issues-view.tsx";
import { KEY_HELP, useKeys } from "./keys.ts";
import type { LiveSession } from "./live-session.ts";
import { NewEntries } from "./new-entries.tsx";
import { PageContext, type PageContextValue, useCopy } from "./page-context.ts";
import { PathBar, TimeLine } from "./path-bar.tsx";
import { FilterBar, SearchPanel } from "./search-panel.tsx";
import { BesideView } from "./side-by-side-view.tsx";
import { TopBar } from "./top-bar.tsx";
import { TreePanel } from "./tree-panel.tsx";
import { UsageView } from "./usage-view.tsx";
import { usePanels } from "./use-panels.ts";
import { usePosition } from "./use-position.ts";
import { useSearch } from "./use-search.ts";
import { Sight, WIDE } from "./viewport.ts";

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
  const [folds] = useState(() => new Folds());
  const [, redraw] = useState(0);
  const search = useSearch(session, folds, go);
  const [sight] = useState(() => new Sight());
  const path = useMemo(() => viewPath(session, position.end), [session, position.end]);
  const { view, focus } = position;
  const subject = getSubject(position);
  const [copy, said, say] = useCopy();
  const { query, isActive } = search;
  const turns = useMemo(() => {
    const [own, other] = [position.end, position.beside ?? NONE].map(
      (end) => new PathTurns(session, getPathTo(session, end)),
    );
    return { get: (ordinal: number) => own?.get(ordinal) ?? other?.get(ordinal) };
  }, [session, position.beside, position.end]);
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
  const { isTreeShown, showTree, areFiltersShown, showFilters, dialog, showDialog } = panels;
  const { unfolded, unfold, searchField } = panels;
  usePrinting(page, path);
  // Opens a failure that the reader navigates to, even by a link.
  useMemo(() => {
    const isLedTo = position.reveal?.align === "start" && isFailure(session.entryAt(focus));
    if (isLedTo) folds.setEntry(focus, true);
  }, [position.reveal]);

  const toggleAll = () => {
    folds.setAll(!folds.areAllOpen);
    redraw((times) => times + 1);
  };
  /** Opens or closes the focused entry; without a focus, the first entry in view. */
  const toggleEntry = () => {
    const ordinal = focus === NONE ? sight.ordinal : focus;
    if (focus === NONE) go({ go: "mark", ordinal });
    if (!folds.toggleEntry(ordinal)) say("Nothing to open here");
  };
  const step = (direction: 1 | -1, only?: "user") =>
    go({ go: "by", direction, from: sight.ordinal, ...(only !== undefined && { only }) });
  const toFailure = (direction: 1 | -1) => {
    const ordinal = findNextFailure(session, subject === NONE ? sight.ordinal : subject, direction);
    if (ordinal !== undefined) go({ go: "entry", ordinal });
  };
  const isConversation = view === "path" || view === "model";
  useKeys(isConversation, {
    nextFailure: () => toFailure(1),
    previousFailure: () => toFailure(-1),
    filters: () => {
      showTree(true);
      showFilters(!areFiltersShown || !isTreeShown);
    },
    next: () => step(1),
    previous: () => step(-1),
    nextTurn: () => step(1, "user"),
    previousTurn: () => step(-1, "user"),
    first: () => go({ go: "first" }),
    last: () => go({ go: "last" }),
    nextBranch: () => go({ go: "branch", direction: 1 }),
    previousBranch: () => go({ go: "branch", direction: -1 }),
    toggleEntry,
    toggleAll,
    search: () => {
      unfold("search");
      searchField.current?.focus();
    },
    nextHit: () => search.step(1),
    previousHit: () => search.step(-1),
    toggleModelView: () => {
      if (subject !== position.asked) go({ go: "context", ordinal: subject });
      else go(view === "model" ? { go: "whole" } : { go: "view", view: "model" });
    },
    usage: () => go({ go: "view", view: view === "usage" ? "path" : "usage" }),
    tree: () => showTree(!isTreeShown),
    theme: toggleTheme,
    endHere: () => focus !== NONE && go({ go: "end", ordinal: focus }),
    leaf: () => go({ go: "end", ordinal: session.leaf }),
    commands: () => showDialog("commands"),
    help: () => showDialog("help"),
    escape: () => {
      searchField.current?.blur();
      unfold("nothing");
      if (search.text !== "") search.setText("");
      else if (search.filter.length > 0) search.clearFilter();
      else if (!matchMedia(WIDE).matches) showTree(false);
    },
  });

  return (
    <PageContext.Provider value={page}>
      <FoldsContext.Provider value={folds}>
        <div class={`page has-open-${unfolded} ${isTreeShown ? "" : "has-no-panel"}`}>
          <TopBar
            view={view}
            search={search}
            panels={panels}
            onFolds={toggleAll}
            following={following}
            indexUrl={indexUrl}
          />
          {isTreeShown && (
            <aside class="panel" aria-label="Entries">
              <FilterBar
                search={search}
                isOpen={areFiltersShown}
                onToggle={() => showFilters(!areFiltersShown)}
              />
              {!session.isWhole ? (
                <p class="empty" role="status">
                  Reading {formatCounted(session.size, "entry", "entries")} …
                </p>
              ) : !isActive ? (
                <TreePanel path={path} sight={sight} />
              ) : (
                <SearchPanel
                  hits={search.hits}
                  isSearching={search.isSearching}
                  problem={search.problem}
                  current={search.current}
                  path={path}
                  onChoose={search.choose}
                />
              )}
            </aside>
          )}
          <main>
            {isConversation && (
              <>
                <h2 class="sr-only">{view === "model" ? "What the model sees" : "Conversation"}</h2>
                <PathBar path={path} position={position} onFailure={toFailure} />
                <TimeLine path={path} focus={focus} />
                <Conversation path={path} position={position} sight={sight} />
                <NewEntries end={position.end} wasAtEnd={wasAtEnd} />
              </>
            )}
            {view === "beside" && (
              <>
                <h2 class="sr-only">Two branches</h2>
                <BesideView path={path} position={position} />
              </>
            )}
            {view === "changes" && <ChangesView path={path} />}
            {view === "usage" && <UsageView path={path} />}
            {view === "issues" && <IssuesView />}
          </main>
          <p class={said === "" ? "toast" : "toast is-shown"} role="status">
            {said}
          </p>
          {dialog === "help" && <Help keys={KEY_HELP} signs={SIGNS} onClose={() => showDialog("none")} />}
          {dialog === "downloads" && <Downloads end={position.end} onClose={() => showDialog("none")} />}
          {dialog === "commands" && (
            <Commands
              ordinal={subject === NONE ? position.end : subject}
              onClose={() => showDialog("none")}
            />
          )}
        </div>
      </FoldsContext.Provider>
    </PageContext.Provider>
  );
}

/** Follows the leaf, and the end of the conversation, if the reader is there when the session grows. */
function useFollowing(
  session: SessionModel,
  wasAtEnd: boolean,
  { end, view }: Position,
  go: (step: Step) => void,
): void {
  const before = useRef(session);
  useLayoutEffect(() => {
    if (before.current === session) return;
    const { leaf, size } = before.current;
    before.current = session;
    // New facts about the same entries, such as estimates of their costs, do not move the reader.
    if (session.size === size) return;
    const isAtLeaf = end === leaf;
    const isFollowed = wasAtEnd && isAtLeaf && (view === "path" || view === "model");
    go({ go: "grown", end: isAtLeaf ? session.leaf : end, isFollowed });
  }, [session]);
}

/**
 * Maximum number of printed entries: browsers traverse the whole document for each printed page, so twice the entries take four
 * times as long.
 */
const MAX_ENTRIES = 1500;

/** Renders the path, with all folds open, into the document while it is printed. */
function usePrinting(page: PageContextValue, path: PathView): void {
  useEffect(() => {
    const root = document.getElementById("print");
    if (root === null) return;
    const before = () => render(<Printed page={page} path={path} />, root);
    const after = () => render(null, root);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, [page, path]);
}

function Printed({ page, path }: { page: PageContextValue; path: PathView }) {
  const { header } = page.session;
  const shown = listShownItems(page.session, path.items, page);
  const items = shown.slice(-MAX_ENTRIES);
  const before = shown[shown.length - items.length - 1];
  return (
    <PageContext.Provider value={page}>
      <PrintContext.Provider value={true}>
        <FoldsContext.Provider value={new Folds(true)}>
          <h1>{page.session.title}</h1>
          <p class="muted">
            {joinNonempty(" · ", header?.cwd ?? "", formatDateAndTime(header?.timestamp), header?.id ?? "")}
          </p>
          {before !== undefined && (
            <p class="notice">
              These are the last {formatCount(items.length)} of {formatCount(shown.length)} entries on this
              branch. For earlier ones, hide what follows entry {before.entry.id} and print again, or run
              “sessiontree export --markdown”, which writes all of them.
            </p>
          )}
          {makeEntryRows(items).rows.map((row) => (
            <EntryCard key={row.ordinal} row={row} focus={NONE} end={row.ordinal} />
          ))}
        </FoldsContext.Provider>
      </PrintContext.Provider>
    </PageContext.Provider>
  );
}
