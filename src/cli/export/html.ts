import { NONE } from "../../tree/entry-tree.ts";
import { sessionPage } from "../page/session-page.ts";
import type { ExportSource } from "./source.ts";

/** Writes a session as a page that holds everything and loads nothing. */
export function* html({ session: { path, tree }, leaf }: ExportSource): Generator<string, void> {
  yield sessionPage(path, { leafId: leaf === NONE ? undefined : tree.idAt(leaf) });
}
