import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { SessionError } from "../../core/format/errors.ts";
import { isStorable, readNumber, SESSION_COLUMNS } from "../contract/rows.ts";
import type { AppendReceipt, NewLine } from "../contract/session-backend.ts";
import { sessionExists } from "../contract/store-errors.ts";
import { addStoredLines, findStoredSession } from "./append.ts";
import type { Database, RunSql } from "./database.ts";
import { FACT_COLUMNS, readStoredSession, STATE_COLUMNS, type StoredSession, toFactValues } from "./rows.ts";
import { TABLES } from "./tables.ts";

const { sessions, deletedSessions } = TABLES;

const INSERT_SESSION = `insert into ${sessions} (${FACT_COLUMNS.join(", ")}) values (${FACT_COLUMNS.map(() => "?").join(", ")}) returning key`;

/** Statement that removes incomplete sessions left by crashes. */
const CLEAR = `delete from ${sessions} where is_complete = 0 and made_at < datetime('now', '-1 day')`;

/**
 * Creates a session from batches of lines. The session becomes visible with the last batch.
 *
 * Uses a separate transaction for each batch, because the lines may be read from the same database over the same
 * connection.
 */
export async function createSession(
  database: Database,
  facts: SessionFacts,
  pieces: AsyncIterable<readonly NewLine[]>,
): Promise<AppendReceipt> {
  assertPossibleId(facts.id);
  const making = new Making(database, facts);
  making.assertFree(database.run);
  try {
    for await (const piece of pieces) making.take(piece);
    return making.finish();
  } catch (error) {
    making.abandon();
    throw error;
  }
}

/** Throws if SQLite would not return an id unchanged. */
function assertPossibleId(id: string): void {
  if (isStorable(id)) return;
  const message = "The session id contains a zero byte or half of a surrogate pair; choose another id.";
  throw new SessionError("INVALID_SESSION_ID", message, { details: { id } });
}

/**
 * Session that is being created. Each batch is written when the next one arrives, so that the last batch and the
 * session become visible together.
 */
class Making {
  readonly #database: Database;
  readonly #facts: SessionFacts;
  #key: number | undefined;
  #pending: readonly NewLine[] = [];

  constructor(database: Database, facts: SessionFacts) {
    this.#database = database;
    this.#facts = facts;
  }

  assertFree(run: RunSql): void {
    if (findStoredSession(run, this.#facts.id) !== undefined) throw sessionExists(this.#facts.id);
  }

  take(piece: readonly NewLine[]): void {
    const before = this.#pending;
    this.#pending = piece;
    if (before.length === 0) return;
    // Set the key only after the commit. Before that, another session may receive the same key.
    this.#key = this.#database.write((run) => {
      if (this.#key === undefined) run(CLEAR);
      return this.#add(run, before).key;
    });
  }

  finish(): AppendReceipt {
    return this.#database.write((run) => {
      this.assertFree(run);
      const { key, lastSeq } = this.#add(run, this.#pending);
      const [mark] = run(`select revision from ${deletedSessions} where id = ?`, this.#facts.id);
      const revision = mark === undefined ? 0 : readNumber(mark, "revision") + 1;
      run(`update ${sessions} set is_complete = 1, revision = ? where key = ?`, revision, key);
      return { precedingSeq: 0, lastSeq, revision };
    });
  }

  /** Removes the incomplete session. If this fails, the session remains invisible and is removed after a day. */
  abandon(): void {
    const key = this.#key;
    if (key === undefined) return;
    try {
      this.#database.run(`delete from ${sessions} where key = ? and is_complete = 0`, key);
    } catch (_abandoned) {
      // The original error is reported. CLEAR removes the session later.
    }
  }

  #add(run: RunSql, lines: readonly NewLine[]): StoredSession {
    const [inserted] = this.#key === undefined ? run(INSERT_SESSION, ...toFactValues(this.#facts)) : [];
    const key = inserted === undefined ? this.#key : readNumber(inserted, "key");
    const sql = `select ${STATE_COLUMNS}, ${SESSION_COLUMNS} from ${sessions} s where s.key = ? and s.is_complete = 0`;
    const [row] = run(sql, key ?? 0);
    if (row === undefined) throw new Error("the incomplete session was removed by another process");
    return addStoredLines(run, readStoredSession(row), lines);
  }
}
