import { basename } from "node:path";
import { hashText } from "../../../core/format/ids.ts";
import type { SourceProgram } from "../source-program.ts";

/** Common members of sources that are read only from files specified by the caller, never from a program's folder. */
export const NAMED_FILES: Pick<SourceProgram, "folders" | "isOnlyNamed" | "makeKey" | "beside"> = {
  folders: () => [],
  isOnlyNamed: true,
  makeKey: ({ path }) => path,
  beside: () => {
    return ({ mtimeMs }) => ({ startedAt: new Date(mtimeMs).toISOString() });
  },
};

/**
 * Derives a session id from the path of the session's file, because two files may specify the same session id.
 *
 * @param name - Prefix of the id. Default: the file name without its extension.
 */
export function makePathId(path: string, name = basename(path).replace(/\.[^.]*$/, "")): string {
  return `${name}-${hashText(path).slice(0, 8)}`;
}
