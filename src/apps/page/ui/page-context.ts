import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Spent } from "../../../core/facts/spending.ts";
import type { Step } from "../model/navigation.ts";
import type { Finder } from "../model/search.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Turn } from "../model/turns.ts";
import type { Copy } from "./use-copy.ts";

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
  readonly turns: ReadonlyMap<number, Turn>;
}

/** Hands the session to the parts of the page. Null outside of it. */
export const PageContext = createContext<PageContextValue | null>(null);

/** Returns what the page handed down. */
export function usePage(): PageContextValue {
  const page = useContext(PageContext);
  if (page === null) throw new TypeError("usePage is for parts of the page: render them inside PageContext");
  return page;
}
