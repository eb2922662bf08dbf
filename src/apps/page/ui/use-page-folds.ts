import { useMemo, useState } from "preact/hooks";
import { isFailure } from "../../text/entry-kind.ts";
import type { Position } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";
import { Folds } from "./fold.tsx";

/** Creates the folds of the page; returns them, and a function that opens or closes all of them. */
export function usePageFolds(session: SessionModel, { focus, reveal }: Position): [Folds, () => void] {
  const [folds] = useState(() => new Folds());
  const [, redraw] = useState(0);
  // Opens a failure that the reader navigates to, even by a link.
  useMemo(() => {
    const isLedTo = reveal?.align === "start" && isFailure(session.entryAt(focus));
    if (isLedTo) folds.setEntry(focus, true);
  }, [reveal]);
  const toggleAll = () => {
    folds.setAll(!folds.areAllOpen);
    redraw((times) => times + 1);
  };
  return [folds, toggleAll];
}
