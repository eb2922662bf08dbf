import type { SourceSession } from "./source-program.ts";

/** What a run knows of a session that it found. */
export interface SourceBeginning extends Pick<SourceSession, "startedAt" | "cwd"> {
  /** Whether the id of an earlier session is the same in a file name. */
  readonly isNameTaken: boolean;
}

/** Facts about the whole run that importing one session needs; plain data, to pass to threads. */
export interface RunFacts {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Folder of the user's cache, in which databases are copied. */
  readonly cacheDir: string;
  /** Whether to write nothing. */
  readonly isDryRun: boolean;
  /** Whether to import anew, beside sessions that exist. */
  readonly isFresh: boolean;
  /** Whether to import sessions that were deleted here. */
  readonly isAgain: boolean;
  /** Beginnings of all found sessions, by `sourceKeyOf`. */
  readonly beginnings: ReadonlyMap<string, SourceBeginning>;
}
