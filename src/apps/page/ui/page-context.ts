import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import type { Spent } from "../../../core/facts/usage-tally.ts";
import type { Step } from "../model/navigation.ts";
import type { Finder } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Turn } from "../model/turns.ts";

/** What nearly every part of the page needs. */
export interface PageContextValue {
  readonly session: SessionModel;
  /** What the list of sessions counts of it, subagents included; undefined where there is none. */
  readonly listed: Spent | undefined;
  /** The file of the session, as a command names it. */
  readonly path: string;
  readonly go: (step: Step) => void;
  /** Finds what is searched for; nothing if nothing is. */
  readonly find: Finder;
  readonly copy: Copy;
  /** The turns of the path and of the one beside it, by the ordinal of the user's message. */
  readonly turns: Pick<ReadonlyMap<number, Turn>, "get">;
  /** Whether records of state, usage, and imports are shown. */
  readonly areRecordsShown: boolean;
  /** The last entry that is shown of the path that the session continues; NONE if none is. */
  readonly shownLeaf: number;
}

/** Hands the session to the parts of the page. Null outside of it. */
export const PageContext = createContext<PageContextValue | null>(null);

/** Returns what the page handed down. */
export function usePage(): PageContextValue {
  const page = useContext(PageContext);
  if (page === null) throw new TypeError("usePage is for parts of the page: render them inside PageContext");
  return page;
}

/** Milliseconds for which the page says something. */
const SHOWN_MS = 2500;

/** Copies a text; `what` names it to the reader. */
type Copy = (text: string, what: string) => void;

/** Returns a function that copies a text, what came of it last, which is empty after a while, and a function that says something else there. */
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
        // A browser can refuse what an older way still does.
        () => tell(copySelected(text)),
      );
  }, []);
  return [copy, said, say];
}

/** Copies as a key would; tells whether that worked. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}
