import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { NONE } from "../../tree/entry-tree.ts";
import type { SessionView } from "../session-view.ts";
import { htmlPage } from "./html-page.ts";

/**
 * Makes the page of a session that was found on disk.
 *
 * @param leaf - Ordinal of the entry at whose path the page opens, or NONE.
 * @remarks Cost: O(bytes), in memory several times over.
 */
export function sessionPage({ path, tree }: Pick<SessionView, "path" | "tree">, leaf: number): string {
  const leafId = leaf === NONE ? undefined : tree.idAt(leaf);
  return htmlPage({ bytes: readFileSync(path), fileName: basename(path), leafId });
}
