import { render } from "preact";
import { useEffect } from "preact/hooks";
import { formatCount, joinNonempty } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { makeEntryRows } from "../model/conversation-rows.ts";
import { formatDateAndTime } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { PrintContext } from "./code.tsx";
import { EntryCard } from "./entry-card.tsx";
import { Folds, FoldsContext } from "./fold.tsx";
import { listenToWindow } from "./listen-to-window.ts";
import { PageContext, type PageContextValue } from "./page-context.ts";

/**
 * Maximum number of printed entries: browsers traverse the whole document for each printed page, so twice the entries take four
 * times as long.
 */
const MAX_ENTRIES = 1500;

/** Renders the path, with all folds open, into the document while it is printed. */
export function usePrinting(page: PageContextValue, path: PathView): void {
  useEffect(() => {
    const root = document.getElementById("print");
    if (root === null) return;
    const stopBefore = listenToWindow("beforeprint", () => render(<Printed page={page} path={path} />, root));
    const stopAfter = listenToWindow("afterprint", () => render(null, root));
    return () => {
      stopBefore();
      stopAfter();
    };
  }, [page, path]);
}

function Printed({ page, path }: { page: PageContextValue; path: PathView }) {
  const { header } = page.session;
  const shown = page.areRecordsShown ? path.items : path.shownItems;
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
