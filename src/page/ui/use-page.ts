import { useContext } from "preact/hooks";
import { PageContext, type PageContextValue } from "./page-context.ts";

/** Returns what the page handed down. */
export function usePage(): PageContextValue {
  const page = useContext(PageContext);
  if (page === null) throw new TypeError("usePage is for parts of the page: render them inside PageContext");
  return page;
}
