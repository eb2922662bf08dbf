import { NONE } from "../../tree/entry-tree.ts";
import { sessionPage } from "../page/session-page.ts";
import type { ExportSource } from "./source.ts";

/** Writes a session as a page that holds everything and loads nothing. */
export function* html({ session, leaf }: ExportSource): Generator<string, void> {
  yield sessionPage(session, { leafId: leaf === NONE ? undefined : session.tree.idAt(leaf) });
}
