import { basename } from "node:path";
import { hashText } from "../../../core/format/ids.ts";
import type { SourceProgram } from "../source-program.ts";

/** Common members of sources whose files only the caller names: files in a program's folder are not sessions of these sources. */
export const NAMED_FILES: Pick<SourceProgram, "folders" | "isOnlyNamed" | "makeKey" | "beside"> = {
  folders: () => [],
  isOnlyNamed: true,
  makeKey: ({ path }) => path,
  beside: () => {
    return ({ mtimeMs }) => ({ startedAt: new Date(mtimeMs).toISOString() });
  },
};

/**
 * Derives the id of a session from the path of its file, because two files may name the same session.
 *
 * @param name - Default: the file's name without its extension.
 */
export function makePathId(path: string, name = basename(path).replace(/\.[^.]*$/, "")): string {
  return `${name}-${hashText(path).slice(0, 8)}`;
}
