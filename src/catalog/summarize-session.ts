import { absolutePath } from "../log/session-paths.ts";
import { summarizeFile } from "./file-summary.ts";
import { Pace } from "./pace.ts";
import { type FileRow, fileRow } from "./session-row.ts";

/**
 * Summarises one session file as a list would, whatever its state.
 *
 * @param path - May be relative, start with `~`, or be a `file://` URL.
 * @returns Undefined if the file is no session.
 * @throws {NotAPlainFileError} If a folder, pipe, socket or device stands at the path.
 * @throws {SessionError} `ABORTED`
 * @throws The system's error if the file is missing or cannot be read.
 * @remarks Cost: O(bytes), scanned rather than parsed if the file is in order.
 */
export async function summarizeSession(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<FileRow | undefined> {
  const file = absolutePath(path);
  return fileRow(file, await summarizeFile(file, undefined, new Pace(options.signal)));
}
