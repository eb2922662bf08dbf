import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { formatCount } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { isHiddenRecord, type SessionModel } from "../model/session-model.ts";
import { listenToWindow } from "./listen-to-window.ts";
import { isAtEnd } from "./live-session.ts";
import { usePage } from "./page-context.ts";

interface NewEntriesProps {
  /** The last entry of the shown branch. */
  readonly end: number;
  /** Whether the end of the conversation was in view before the session grew. */
  readonly wasAtEnd: boolean;
}

/** Button with the number of entries that were appended while the reader was elsewhere; scrolls to them when clicked. */
export function NewEntries({ end, wasAtEnd }: NewEntriesProps) {
  const { session, go, areRecordsShown } = usePage();
  const [seen, see] = useState(session.size);
  useLayoutEffect(() => {
    if (wasAtEnd) see(session.size);
  }, [session]);
  useEffect(() => {
    const onScroll = () => {
      if (isAtEnd()) see(session.size);
    };
    // Lists scroll on their own, and their events do not bubble.
    return listenToWindow("scroll", onScroll, { capture: true, passive: true });
  }, [session]);
  const count = end === session.leaf ? countEntriesSince(session, seen, areRecordsShown) : 0;
  if (count === 0) return null;
  const onClick = () => {
    see(session.size);
    go({ go: "grown", end, isFollowed: true });
  };
  return (
    <button type="button" class="new-entries no-print" title="Go to the end" onClick={onClick}>
      <span role="status">{formatCount(count)} new</span> <span aria-hidden="true">↓</span>
    </button>
  );
}

/**
 * Counts the entries at the end of the current branch that are newer than the known entries, excluding hidden records.
 *
 * @param known - Number of entries known before.
 */
function countEntriesSince(session: SessionModel, known: number, areRecordsShown: boolean): number {
  let count = 0;
  for (let at = session.leaf; at !== NONE && at >= known; at = session.tree.parentAt(at))
    if (areRecordsShown || !isHiddenRecord(session, at)) count++;
  return count;
}
