import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { SessionError } from "../../schema/errors.ts";
import { NONE } from "../../tree/entry-tree.ts";
import type { SessionView } from "../session-view.ts";
import { htmlPage } from "./html-page.ts";

/** Larger files make pages that browsers refuse; what JavaScript holds as one text ends at twice as much. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Makes the page of a session that was found on disk.
 *
 * @param leaf - Ordinal of the entry at whose path the page opens, or NONE.
 * @param mostBytes - Size of the largest file of which a page is made.
 * @throws {SessionError} `WRITE_FAILED` if the session is too large for a page.
 * @remarks Cost: O(bytes), in memory several times over.
 */
export function sessionPage(
  { path, tree }: Pick<SessionView, "path" | "tree">,
  leaf: number,
  mostBytes = MOST_BYTES,
): string {
  const leafId = leaf === NONE ? undefined : tree.idAt(leaf);
  const { size } = statSync(path);
  if (size > mostBytes) throw tooLarge(path, size);
  try {
    return htmlPage({ bytes: readFileSync(path), fileName: basename(path), leafId });
  } catch (error) {
    // Quotes and backslashes take twice their room in the page, so that a smaller file can be too much, too.
    if (error instanceof Error && isTooLong(error)) throw tooLarge(path, size, error);
    throw error;
  }
}

function isTooLong(error: Error): boolean {
  return error instanceof RangeError || ("code" in error && error.code === "ERR_STRING_TOO_LONG");
}

function tooLarge(path: string, size: number, cause?: Error): SessionError {
  const message =
    `${path} has ${Math.round(size / 1e6)} MB, too much for one page. Take a branch of it, with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", with --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size }, cause });
}
