import { assertOptions, CALLBACK, COUNT, TEXT } from "../../core/format/options.ts";
import { compareRows, type FileRow } from "../../session/files/session-row.ts";
import { CATALOG_RULES, type CatalogOptions, CatalogRun } from "./catalog-run.ts";

/**
 * Called while sessions are listed.
 *
 * @param loaded - Number of files read so far.
 * @param total - Number of all files.
 * @param partial - Sessions found so far, latest first; reported only occasionally.
 */
export type ListProgress = (loaded: number, total: number, partial?: readonly FileRow[]) => void;

/** Options for listing sessions. */
export interface ListOptions extends CatalogOptions {
  readonly onProgress?: ListProgress;
}

/** Options for iterating over sessions. */
export interface IterateOptions extends CatalogOptions {
  /** Words that must all occur in the name, first message, id, or working directory, ignoring case. */
  readonly query?: string;
  /** Maximum number of sessions. */
  readonly limit?: number;
}

/** Milliseconds after which a slow list reports partial results. */
const PARTIAL_AFTER_MS = 250;

/**
 * Lists sessions in order of their latest user or assistant message, latest first.
 *
 * Skips files that are not sessions or cannot be read, and reports them to `onSkipped`. A damaged session is listed
 * with an `issueCount`. Two files with the same session id produce two rows.
 *
 * @returns Empty if there are no sessions or the folder is missing.
 * @remarks Cost: one stat per file, plus reading the bytes added since the last listing.
 */
export async function listSessions(options: ListOptions = {}): Promise<FileRow[]> {
  assertOptions(options, { ...CATALOG_RULES, onProgress: CALLBACK });
  const sessions: FileRow[] = [];
  const run = await CatalogRun.start(options);
  const notify = options.onProgress && makeProgressNotifier(options.onProgress, run.files.length);
  try {
    for (const file of run.files) {
      const found = run.readRow(file);
      const info = found instanceof Promise ? await found : found;
      if (info !== undefined) sessions.push(info);
      notify?.(sessions);
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await run.finish();
  }
  return sessions.sort(compareRows);
}

/** Creates a function that must be called after each file and occasionally reports a partial list. */
function makeProgressNotifier(onProgress: ListProgress, total: number): (found: FileRow[]) => void {
  let [loaded, nextPartial, shownAt] = [0, 1, Date.now()];
  return (found) => {
    loaded++;
    // Sorting at each doubling costs no more in total than sorting twice.
    const isDue = loaded >= nextPartial || loaded === total || Date.now() - shownAt > PARTIAL_AFTER_MS;
    if (!isDue) return onProgress(loaded, total);
    nextPartial = loaded * 2;
    shownAt = Date.now();
    onProgress(loaded, total, [...found].sort(compareRows));
  };
}

/**
 * Yields sessions as they are found, most recently written files first.
 *
 * @throws {SessionError} `ABORTED`
 * @remarks Cost: one stat per file at the start, then one read per requested session.
 */
export async function* iterateSessions(
  options: IterateOptions = {},
): AsyncGenerator<FileRow, void, undefined> {
  assertOptions(options, { ...CATALOG_RULES, query: TEXT, limit: COUNT });
  const { query = "", limit = Number.POSITIVE_INFINITY } = options;
  if (limit < 1) return;
  let given = 0;
  const run = await CatalogRun.start(options);
  try {
    for (const file of run.files) {
      const info = await run.readRow(file);
      if (info !== undefined && isQueried(info, query)) {
        yield info;
        given++;
        if (given >= limit) return;
      }
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await run.finish();
  }
}

function isQueried({ name = "", firstMessage = "", id, cwd }: FileRow, query: string): boolean {
  return hasWords(`${name}\n${firstMessage}\n${id}\n${cwd}`, query);
}

/** Returns whether a string contains all words in a query, in any order, ignoring case. */
export function hasWords(text: string, query: string): boolean {
  const folded = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word));
}
