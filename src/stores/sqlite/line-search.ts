import { Pace } from "../../session/files/time-slices.ts";
import {
  type Row,
  readNumber,
  readRequiredText,
  readSessionFacts,
  SESSION_COLUMNS,
  searchForm,
} from "../contract/rows.ts";
import type { BackendSearchQuery, FoundLine } from "../contract/session-backend.ts";
import type { SqliteValue } from "./client.ts";
import type { RunSql } from "./database.ts";
import { LINE_COLUMNS, readStoredLine } from "./rows.ts";
import { TABLES } from "./tables.ts";

const { sessions, lines, texts, search } = TABLES;

/** Number of sessions read per query. */
const SESSIONS_AT_ONCE = 100;

/**
 * Maximum number of candidate lines to sort. If there are more candidate lines, sessions are searched one by one until the page
 * is full.
 */
const MAX_SORTED = 1_000;

/**
 * Maximum number of trigrams per word in a query. Strings that contain all of these trigrams are compared with the whole word.
 */
const MAX_TRIGRAMS = 16;

/** Search in the lines of a database. */
export class LineSearch {
  readonly #run: RunSql;
  readonly #query: BackendSearchQuery;
  readonly #words: readonly string[];
  readonly #isIndexed: boolean;

  constructor(run: RunSql, query: BackendSearchQuery, isIndexed: boolean) {
    this.#run = run;
    this.#query = query;
    this.#words = query.words.map(searchForm);
    this.#isIndexed = isIndexed;
  }

  /** Finds a page of lines. */
  async find(signal: AbortSignal | undefined): Promise<FoundLine[]> {
    const expression = this.#isIndexed ? makeTrigramQuery(this.#words) : undefined;
    const found = expression === undefined ? undefined : this.#findInIndex(expression);
    return found ?? this.#scan(signal);
  }

  /**
   * Finds lines with the index; undefined if the words are so frequent that sorting all lines would take longer than
   * scanning.
   */
  #findInIndex(expression: string): FoundLine[] | undefined {
    const candidates = `select rowid as line from ${search} where ${search} match ?
      union all select line from ${texts} where text is null`;
    const [row] = this.#run(
      `select count(*) as count from (select 1 from (${candidates}) limit ?)`,
      ...[expression, MAX_SORTED + 1],
    );
    if (row === undefined || readNumber(row, "count") > MAX_SORTED) return undefined;
    const { cwd, after, limit } = this.#query;
    const rows = this.#run(
      `select ${LINE_COLUMNS}, ${SESSION_COLUMNS} from (${candidates}) c cross join ${texts} t on t.line = c.line
        cross join ${lines} l on l.key = c.line cross join ${sessions} s on s.key = l.session
        where s.is_complete = 1 ${this.#inText}${cwd === undefined ? "" : " and s.cwd = ?"}
          ${after === undefined ? "" : " and s.id <= ? and (s.id < ? or l.seq > ?)"}
        order by s.id desc, l.seq limit ?`,
      ...[expression, ...this.#words],
      ...(cwd === undefined ? [] : [cwd]),
      ...(after === undefined ? [] : [after.sessionId, after.sessionId, after.seq]),
      limit,
    );
    return rows.map((one) => this.#toFound(one, one));
  }

  /** Finds lines by comparing their text, session by session, until the page is full. */
  async #scan(signal: AbortSignal | undefined): Promise<FoundLine[]> {
    const pace = new Pace(signal);
    const { after, limit } = this.#query;
    const found: FoundLine[] = [];
    for (const session of this.#sessions()) {
      const afterSeq = after !== undefined && after.sessionId === session["id"] ? after.seq : 0;
      const rows = this.#run(
        `select ${LINE_COLUMNS} from ${lines} l cross join ${texts} t on t.line = l.key
          where l.session = ? and l.seq > ? ${this.#inText} order by l.seq limit ?`,
        ...[readNumber(session, "key"), afterSeq, ...this.#words, limit - found.length],
      );
      found.push(...rows.map((row) => this.#toFound(session, row)));
      if (found.length >= limit) break;
      if (pace.isDue) await pace.rest();
    }
    return found;
  }

  /** Yields the sessions that may have lines for the page, in order. */
  *#sessions(): Generator<Row, void> {
    const { cwd, after } = this.#query;
    let [condition, values]: [string, SqliteValue[]] =
      after === undefined ? ["", []] : [" and s.id <= ?", [after.sessionId]];
    for (;;) {
      const page = this.#run(
        `select s.key, ${SESSION_COLUMNS} from ${sessions} s where s.is_complete = 1${condition}
          ${cwd === undefined ? "" : " and s.cwd = ?"} order by s.id desc limit ?`,
        ...[...values, ...(cwd === undefined ? [] : [cwd]), SESSIONS_AT_ONCE],
      );
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < SESSIONS_AT_ONCE) return;
      [condition, values] = [" and s.id < ?", [readRequiredText(last, "id")]];
    }
  }

  /** SQL condition that is true if the text contains all words or was too long to be stored for comparison. */
  get #inText(): string {
    const words = this.#words.map(() => "instr(t.text, ?) > 0").join(" and ");
    return words === "" ? "" : ` and (t.text is null or (${words}))`;
  }

  #toFound(session: Row, line: Row): FoundLine {
    return { session: readSessionFacts(session), line: readStoredLine(this.#run, line) };
  }
}

/** Returns the FTS5 expression for strings that contain all trigrams of words; undefined if all words are shorter. */
function makeTrigramQuery(words: readonly string[]): string | undefined {
  const trigrams = words.flatMap((word) => {
    const characters = [...word];
    const count = Math.max(0, characters.length - 2);
    const all = Array.from({ length: count }, (_, i) => characters.slice(i, i + 3).join(""));
    return all.slice(0, MAX_TRIGRAMS);
  });
  if (trigrams.length === 0) return undefined;
  return [...new Set(trigrams)].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ");
}
