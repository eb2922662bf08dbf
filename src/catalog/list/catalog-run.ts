import {
  assertOptions,
  CALLBACK,
  FLAG,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
  TEXTS,
} from "../../core/format/options.ts";
import { type FileMark, isUnchanged } from "../../session/files/file-mark.ts";
import { readFileHeader } from "../../session/files/find-session.ts";
import {
  type CatalogScope,
  findSessionFiles,
  makeScopeTest,
  type SessionFile,
} from "../../session/files/session-files.ts";
import { compareRows, type FileRow } from "../../session/files/session-row.ts";
import { ignoreSkipped, reportSkipped, type SkipReport } from "../../session/files/skipped-files.ts";
import type { FileSummary } from "../../session/files/summary-columns.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { PLACES_RULES, type SessionPlaces } from "../../session/log/session-paths.ts";
import { type CacheOptions, CatalogCache } from "./catalog-cache.ts";
import { decodeSummaryCalls, makeFileRow, summarizeFile } from "./file-summary.ts";
import type { SessionCalls } from "./session-calls.ts";

/** Options for selecting sessions, reporting skipped files, and canceling the operation. */
export interface CatalogOptions extends CatalogScope, CacheOptions {
  /** Called for each skipped file and folder. */
  readonly onSkipped?: SkipReport;
  /** Cancels the operation with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Validation rules for `CatalogOptions`. */
export const CATALOG_RULES: OptionRules<CatalogOptions> = {
  cwd: TEXT,
  sessionDir: TEXT,
  places: OBJECT,
  includeImported: FLAG,
  otherDirs: TEXTS,
  cache: FLAG,
  cacheDir: TEXT,
  onCacheError: CALLBACK,
  onSkipped: CALLBACK,
  signal: SIGNAL,
};

/** A file's row and its model calls. */
interface CountedSession {
  readonly row: FileRow;
  readonly recorded: SessionCalls;
}

/** One pass over the session files of a scope. */
export class CatalogRun {
  readonly pace: Pace;
  readonly report: SkipReport;
  /** Most recently written first. */
  readonly files: readonly SessionFile[];
  /** Known facts of the files. */
  readonly cache: CatalogCache;
  readonly #folders: readonly string[];
  readonly #belongs: (cwd: string, folder: string) => boolean;
  readonly #isFiltered: boolean;
  readonly #needsCalls: boolean;

  private constructor(
    options: CatalogOptions,
    pace: Pace,
    { folders, files }: { folders: readonly string[]; files: readonly SessionFile[] },
    needsCalls: boolean,
  ) {
    this.pace = pace;
    this.report = options.onSkipped ?? ignoreSkipped;
    this.files = files;
    this.#folders = folders;
    this.cache = new CatalogCache(options);
    this.#belongs = makeScopeTest(options);
    this.#isFiltered = options.cwd !== undefined;
    this.#needsCalls = needsCalls;
  }

  static async start(options: CatalogOptions, needsCalls = false): Promise<CatalogRun> {
    assertOptions<CatalogOptions>(options, CATALOG_RULES);
    if (options.places !== undefined) assertOptions<SessionPlaces>(options.places, PLACES_RULES);
    const pace = new Pace(options.signal);
    pace.check();
    const found = await findSessionFiles(options, options.onSkipped ?? ignoreSkipped, pace);
    return new CatalogRun(options, pace, found, needsCalls);
  }

  /**
   * Returns a file's row; undefined if the file is outside the scope, is not a session, or is unreadable. Reports the
   * last two cases.
   *
   * @returns The row itself rather than a promise if it is already known, because creating thousands of promises would cost more
   * than all other work.
   */
  readRow(file: SessionFile): FileRow | undefined | Promise<FileRow | undefined> {
    this.pace.check();
    const known = this.#current(file);
    if (known !== undefined) return this.#toRow(file, known);
    return this.#read(file, this.cache.getSummary(file)).then((found) => found && this.#toRow(file, found));
  }

  /** Returns a file's row with its model calls, for a run that needs them; undefined in the same cases as `readRow`. */
  readCalls(file: SessionFile): CountedSession | undefined | Promise<CountedSession | undefined> {
    this.pace.check();
    const known = this.#current(file);
    // Cached data may be wrong: a file whose cached calls do not decode is read again.
    const recorded = known && decodeSummaryCalls(known);
    if (known !== undefined && (known.summary === undefined || recorded !== undefined))
      return this.#counted(file, known, recorded);
    return this.#read(file, this.cache.getSummary(file)).then(
      (found) => found && this.#counted(file, found, decodeSummaryCalls(found)),
    );
  }

  /** Returns the session files in the scope in list order, latest message first. Costs as much as a list. */
  async filesLatestFirst(): Promise<SessionFile[]> {
    const found: { row: FileRow; file: SessionFile }[] = [];
    for (const file of this.files) {
      const info = this.readRow(file);
      const row = info instanceof Promise ? await info : info;
      if (row !== undefined) found.push({ row, file });
      if (this.pace.isDue) await this.pace.rest();
    }
    return found.sort((a, b) => compareRows(a.row, b.row)).map(({ file }) => file);
  }

  /** Returns whether a file may be a session in the scope, based only on its header. */
  mayBelong(file: SessionFile): boolean {
    if (!this.#isFiltered) return true;
    try {
      const known = this.#current(file);
      const header = known === undefined ? readFileHeader(file.path) : known.summary;
      return header !== undefined && this.#belongs(header.cwd, file.folder);
    } catch (error) {
      reportSkipped(file.path, error, this.report);
      return false;
    }
  }

  /**
   * Returns whether a file's current content is known to be in order: each line is one record with a unique id, in version 3 or
   * later. Returns false if unknown, as for a file that was read in parts, because appended lines may repeat ids.
   */
  isInOrder(file: SessionFile, mark: FileMark): boolean {
    const known = this.#current(file, mark);
    return known?.isWhole === true && known.end !== undefined && known.issueCount === 0;
  }

  /** Saves the findings for the next run. */
  async finish(): Promise<void> {
    await this.cache.save(this.#folders, this.files);
  }

  /** Returns the summary of an unchanged file; undefined if it has no summary. */
  #current(file: SessionFile, mark: FileMark = file): FileSummary | undefined {
    const known = this.cache.getSummary(file);
    if (known === undefined || !isUnchanged(known, mark)) return undefined;
    return this.#needsCalls && known.summary !== undefined && known.calls === undefined ? undefined : known;
  }

  /** @param earlier - Earlier summary to resume from, created when the file was shorter. */
  async #read(file: SessionFile, earlier: FileSummary | undefined): Promise<FileSummary | undefined> {
    try {
      const found = await summarizeFile(file.path, earlier, this.pace, this.#needsCalls);
      this.cache.putSummary(file, found);
      return found;
    } catch (error) {
      reportSkipped(file.path, error, this.report);
      return undefined;
    }
  }

  #counted(
    file: SessionFile,
    found: FileSummary,
    recorded: SessionCalls | undefined,
  ): CountedSession | undefined {
    const row = this.#toRow(file, found);
    return row && recorded && { row, recorded };
  }

  #toRow(file: SessionFile, found: FileSummary): FileRow | undefined {
    const { summary } = found;
    if (summary === undefined) this.report({ path: file.path, reason: "not-a-session" });
    const isWanted = summary !== undefined && this.#belongs(summary.cwd, file.folder);
    return isWanted ? makeFileRow(file.path, found) : undefined;
  }
}
