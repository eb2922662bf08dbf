import { closeFile, openToScan, type ScannedFile } from "../../session/files/file-mark.ts";
import type { SessionFile } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { reportSkipped } from "../../session/files/skipped-files.ts";
import { type CatalogOptions, CatalogRun } from "../list/catalog-run.ts";
import { collectGrams, hasGrams } from "../list/gram-filter.ts";
import { readSource } from "../list/read-entries.ts";
import { getRequiredTexts, needsCalls, type SearchPlan } from "../query/entry-search.ts";
import { isDateWord } from "../query/search-text.ts";
import { parseTermTable, TermTable } from "../query/term-table.ts";
import { getStem } from "../query/words.ts";
import { QuestionSearch } from "./question-search.ts";
import { type FoundHit, findAtOffsets, type HitBranch, mayHoldRequired } from "./search-file.ts";
import { isFrom, mayHold } from "./searched-files.ts";
import { TableThread } from "./table-thread.ts";
import { TermTableReader } from "./term-tables.ts";

/** Hit in a session file. */
interface QuestionHit extends FoundHit {
  readonly session: FileRow;
  readonly branch: HitBranch;
}

/**
 * Yields the entries in session files that best answer a question, most relevant first.
 *
 * Reads the words of each file once. If the cache is enabled, it stores them next to the summaries as hashes, which are
 * discarded together with the file's other cached data.
 *
 * @remarks Cost: O(bytes) for files whose words are unknown, or if the filters require reading whole sessions;
 *   O(entries that contain a word) for other files. Reads each session with a hit into a tree.
 */
export async function* searchFilesByQuestion(
  plan: SearchPlan,
  options: CatalogOptions,
  limit: number,
): AsyncGenerator<QuestionHit, void, undefined> {
  const run = await CatalogRun.start(options);
  try {
    const search = new QuestionSearch<SessionFile, QuestionHit>(plan);
    await readTables(run, plan, (file, table) => search.add(file, table));
    yield* search.findHits(limit, (file, offsets, own) => readHits(run, file, offsets, own), run.pace);
  } finally {
    await run.finish();
  }
}

/** Calls a function with the words in each file that may contain a hit. */
async function readTables(
  run: CatalogRun,
  plan: SearchPlan,
  take: (file: SessionFile, table: TermTable) => void,
): Promise<void> {
  const tables = new FileTables(run, plan);
  const files: SessionFile[] = [];
  for (const file of run.files) {
    run.pace.check();
    if (tables.isWanted(file)) files.push(file);
    if (run.pace.isDue) await run.pace.rest();
  }
  try {
    tables.startThread(files);
    for (const file of files) {
      run.pace.check();
      const table = await tables.read(file);
      if (table !== undefined) take(file, table);
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await tables.stopThread();
  }
}

/** Reads the words in session files that may match a search. */
class FileTables {
  readonly #run: CatalogRun;
  readonly #plan: SearchPlan;
  readonly #reader: TermTableReader;
  /** Whether all entries of a file are included, so that its words can be cached. */
  readonly #isWhole: boolean;
  readonly #required: Int32Array;
  /** For each word, the grams that every file with the word contains. */
  readonly #anyOf: readonly Int32Array[];
  #thread: TableThread | undefined;

  constructor(run: CatalogRun, plan: SearchPlan) {
    const { terms, words = [] } = plan.query;
    this.#run = run;
    this.#plan = plan;
    this.#reader = new TermTableReader(run.pace);
    this.#isWhole = terms.length === 0 && plan.filters.tools === undefined && !needsCalls(plan);
    this.#required = collectGrams(getRequiredTexts(plan).map(({ text }) => text));
    const heaviest = Math.max(...words.map(({ weight }) => weight));
    this.#anyOf = words
      .filter(({ weight }) => weight === heaviest)
      .map(({ text }) => collectGrams(isDateWord(text) ? [] : [getStem(text)]));
  }

  /** Returns whether a file may contain a matching session. Reports an unreadable file and returns false. */
  isWanted(file: SessionFile): boolean {
    if (!this.#run.mayBelong(file)) return false;
    try {
      return isFrom(file.path, this.#plan);
    } catch (error) {
      reportSkipped(file.path, error, this.#run.report);
      return false;
    }
  }

  /** Starts a thread to read the files whose words are unknown, if there are many. */
  startThread(files: readonly SessionFile[]): void {
    if (!this.#isWhole) return;
    const unknown = files.filter((file) => this.#run.cache.getTable(file, file) === undefined);
    this.#thread = TableThread.start(unknown);
  }

  async stopThread(): Promise<void> {
    await this.#thread?.stop();
  }

  /** Returns the words in a file; undefined if the file cannot contain a hit or cannot be read. Reports unreadable files. */
  async read(file: SessionFile): Promise<TermTable | undefined> {
    const { cache, report } = this.#run;
    try {
      if (!this.#isWhole) return await this.#readSelected(file);
      const known = cache.getTable(file, file);
      const kept = known && parseTermTable(known);
      if (kept !== undefined) return kept;
      const read = (await this.#thread?.take(file)) ?? (await this.#reader.readPath(file.path));
      if (read === undefined) return undefined;
      cache.putTable(file, read.mark, read.bytes);
      return new TermTable(read.bytes);
    } catch (error) {
      reportSkipped(file.path, error, report);
      return undefined;
    }
  }

  /** Returns the words in the entries that pass the filters and contain the phrases. */
  async #readSelected(file: SessionFile): Promise<TermTable | undefined> {
    const { pace } = this.#run;
    if (!mayHold(this.#run, file, this.#required) || !this.#mayHoldAny(file)) return undefined;
    const open = openToScan(file.path);
    try {
      if (!(await mayHoldRequired(open, this.#plan, pace))) return undefined;
      const source = await readSource(open, pace);
      return source && (await this.#reader.readSource(source, this.#plan));
    } finally {
      closeFile(open);
    }
  }

  /** Returns whether a file may contain any of the words, based on its filter. */
  #mayHoldAny(file: SessionFile): boolean {
    const filter = this.#run.cache.getFilter(file, file);
    return filter === undefined || this.#anyOf.some((grams) => hasGrams(filter, grams));
  }
}

async function* readHits(
  run: CatalogRun,
  file: SessionFile,
  offsets: readonly number[],
  plan: SearchPlan,
): AsyncGenerator<QuestionHit[], void, undefined> {
  let open: ScannedFile | undefined;
  try {
    const session = await run.readRow(file);
    if (session === undefined) return;
    open = openToScan(file.path);
    const source = await readSource(open, run.pace);
    if (source === undefined) return;
    for await (const batch of findAtOffsets(source, offsets, plan, run.pace))
      yield batch.map((hit) => ({ ...hit, session, branch: hit.branch ?? "active" }));
  } catch (error) {
    reportSkipped(file.path, error, run.report);
  } finally {
    if (open !== undefined) closeFile(open);
  }
}
