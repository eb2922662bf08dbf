import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import type { Spent } from "../../../core/facts/usage-tally.ts";
import type { Step } from "../model/navigation.ts";
import type { Finder } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Turn } from "../model/turns.ts";

/** Values that nearly every part of the page needs. */
export interface PageContextValue {
  readonly session: SessionModel;
  /** Usage of the session as counted in the list of sessions, including subagents; undefined if unknown. */
  readonly listed: Spent | undefined;
  /** The file of the session, as commands name it. */
  readonly path: string;
  readonly go: (step: Step) => void;
  /** Finds the matches of the current query; finds nothing without a query. */
  readonly find: Finder;
  readonly copy: Copy;
  /** Turns of the path and of the path next to it, by the ordinal of the user message. */
  readonly turns: Pick<ReadonlyMap<number, Turn>, "get">;
  /** Whether records of state, usage, and imports are shown. */
  readonly areRecordsShown: boolean;
  /** The last shown entry on the path that the session continues; NONE if no entry is shown. */
  readonly shownLeaf: number;
}

/** Provides these values to the parts of the page. Null outside of it. */
export const PageContext = createContext<PageContextValue | null>(null);

/** Returns the values that the page provides. */
export function usePage(): PageContextValue {
  const page = useContext(PageContext);
  if (page === null) throw new TypeError("usePage is for parts of the page: render them inside PageContext");
  return page;
}

/** Milliseconds for which a status message is shown. */
const SHOWN_MS = 2500;

/** Copies text; `what` is its name in the status message. */
type Copy = (text: string, what: string) => void;

/**
 * Returns a function that copies text, the latest status message, which is cleared after a while, and a function that shows
 * another message.
 */
export function useCopy(): [Copy, string, (said: string) => void] {
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => say(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = useCallback<Copy>((text, what) => {
    const tell = (isDone: boolean) =>
      say(isDone ? `Copied ${what}` : `The browser does not let the page copy ${what}`);
    if (!isSecureContext) tell(copySelected(text));
    else
      navigator.clipboard.writeText(text).then(
        () => tell(true),
        // A browser can reject this call but still allow the older method.
        () => tell(copySelected(text)),
      );
  }, []);
  return [copy, said, say];
}

/** Copies with the browser's copy command; returns whether that succeeded. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}
