import { render } from "preact";
import { useEffect } from "preact/hooks";
import { dateAndTimeOf } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { EntryCard } from "./entry-card.tsx";
import { Folds, FoldsContext } from "./folds.ts";
import { PageContext, type PageContextValue } from "./page-context.ts";
import { PrintContext } from "./print-context.ts";
import { titleOf } from "./top-bar.tsx";

/** Puts the whole path, with all folds open, into the document while it is printed. */
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
  return (
    <PageContext.Provider value={page}>
      <PrintContext.Provider value={true}>
        <FoldsContext.Provider value={new Folds(true)}>
          <h1>{titleOf(page.session)}</h1>
          <p class="muted">
            {[header?.cwd, dateAndTimeOf(header?.timestamp), header?.id].filter(Boolean).join(" · ")}
          </p>
          {path.items.map((item) => (
            <EntryCard key={item.ordinal} item={item} isFocused={false} isEnd={true} />
          ))}
        </FoldsContext.Provider>
      </PrintContext.Provider>
    </PageContext.Provider>
  );
}
