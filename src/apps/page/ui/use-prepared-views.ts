import { useEffect, useRef } from "preact/hooks";
import { makeConversationRows } from "../model/conversation-rows.ts";
import type { PathView } from "../model/path-items.ts";
import type { SessionModel } from "../model/session-model.ts";
import { getUsage } from "../model/usage.ts";

/** Milliseconds before each step, in which the page can take keys. */
export const PAUSE_MS = 100;

/**
 * Prepares the other views of the path step by step once a session is complete, so that the first key that opens one is as fast as
 * the next. The results are remembered where they are computed.
 */
export function usePreparedViews(session: SessionModel, path: PathView): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current || !session.isWhole) return;
    const steps = [
      () => path.modelItems,
      () => makeConversationRows(path.modelItems, () => false),
      () => path.repairs,
      () => getUsage(session).all,
    ];
    const run = () => {
      const step = steps.shift();
      step?.();
      isDone.current = step === undefined;
      if (!isDone.current) timer = setTimeout(run, PAUSE_MS);
    };
    let timer = setTimeout(run, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [session, path]);
}
