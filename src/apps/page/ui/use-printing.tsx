import { render } from "preact";
import { useEffect } from "preact/hooks";
import { count } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { entryRows } from "../model/conversation-rows.ts";
import { dateAndTimeOf } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { PrintContext } from "./code.tsx";
import { EntryCard } from "./entry-card.tsx";
import { Folds, FoldsContext } from "./fold.tsx";
import { PageContext, type PageContextValue } from "./page-context.ts";

/** Browsers walk all of a document for each page that they print: twice as many entries take four times as long. */
const MOST_ENTRIES = 1500;

/** Puts the path, with all folds open, into the document while it is printed. */
export function usePrinting(page: PageContextValue, path: PathView): void {
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
  const items = path.items.slice(-MOST_ENTRIES);
  const before = path.items[path.items.length - items.length - 1];
  return (
    <PageContext.Provider value={page}>
      <PrintContext.Provider value={true}>
        <FoldsContext.Provider value={new Folds(true)}>
          <h1>{page.session.title}</h1>
          <p class="muted">
            {[header?.cwd, dateAndTimeOf(header?.timestamp), header?.id].filter(Boolean).join(" · ")}
          </p>
          {before !== undefined && (
            <p class="notice">
              These are the last {count(items.length)} of {count(path.items.length)} entries on this path. For
              what comes before, end the path at entry {before.entry.id} and print again, or run “sessiontree
              export --markdown”, which writes all of it.
            </p>
          )}
          {entryRows(items).rows.map((row) => (
            <EntryCard key={row.ordinal} row={row} focus={NONE} end={row.ordinal} />
          ))}
        </FoldsContext.Provider>
      </PrintContext.Provider>
    </PageContext.Provider>
  );
}
