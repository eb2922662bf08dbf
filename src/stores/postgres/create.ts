import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { readNumber, readRequiredText } from "../contract/rows.ts";
import type { AppendReceipt, NewLine } from "../contract/session-backend.ts";
import { sessionExists } from "../contract/store-errors.ts";
import { type Database, getSqlState, type RunSql } from "./database.ts";
import type { Names } from "./names.ts";
import { makeSessionSql } from "./queries.ts";
import { assertPossibleId, encodeLinesAsJson, NEW_SESSION_COLUMNS, toSessionValues } from "./rows.ts";

const UNIQUE_VIOLATION = "23505";

/** Age at which incomplete sessions left by crashes are removed. */
const ABANDONED_AFTER = "1 day";

/**
 * Creates a session from batches of lines. The session becomes visible with the last batch.
 *
 * Does not use a single transaction, because the lines may be read from the same database over the only connection.
 */
export async function createSession(
  database: Database,
  names: Names,
  session: SessionFacts,
  pieces: AsyncIterable<readonly NewLine[]>,
): Promise<AppendReceipt> {
  assertPossibleId(session.id);
  await assertFree(database, names, session.id);
  const making = new Making(database, names, session);
  try {
    for await (const piece of pieces) await making.take(piece);
    return await making.finish();
  } catch (error) {
    await making.abandon();
    throw getSqlState(error) === UNIQUE_VIOLATION ? sessionExists(session.id) : error;
  }
}

/**
 * Session that is being created. Each batch is written when the next one arrives, so that the last batch and the
 * session become visible together.
 */
class Making {
  readonly #database: Database;
  readonly #names: Names;
  readonly #session: SessionFacts;
  #lastSeq = 0;
  #key: string | undefined;
  #revision = 0;
  #pending: readonly NewLine[] = [];

  constructor(database: Database, names: Names, session: SessionFacts) {
    this.#database = database;
    this.#names = names;
    this.#session = session;
  }

  async take(piece: readonly NewLine[]): Promise<void> {
    const before = this.#pending;
    this.#pending = piece;
    if (before.length === 0) return;
    if (this.#key === undefined) await this.#clear();
    await this.#database.transaction((run) => this.#add(run, before));
  }

  async finish(): Promise<AppendReceipt> {
    await this.#database.transaction(async (run) => {
      await this.#add(run, this.#pending);
      await run(`update ${this.#names.sessions} set is_complete = true where key = $1`, [this.#key]);
    });
    return { precedingSeq: 0, lastSeq: this.#lastSeq, revision: this.#revision };
  }

  /** Removes the incomplete session. If this fails, the session remains invisible and is removed after a day. */
  async abandon(): Promise<void> {
    if (this.#key === undefined) return;
    const gone = this.#database.query(
      `delete from ${this.#names.sessions} where key = $1 and not is_complete`,
      [this.#key],
    );
    await gone.catch(() => undefined);
  }

  /** Removes incomplete sessions left by crashes, if the role has permission. */
  async #clear(): Promise<void> {
    const cleared = this.#database.query(
      `delete from ${this.#names.sessions} s where not s.is_complete and s.made_at < now() - $1::interval`,
      [ABANDONED_AFTER],
    );
    await cleared.catch(() => undefined);
  }

  async #add(run: RunSql, lines: readonly NewLine[]): Promise<void> {
    const { sessions, addLines } = this.#names;
    if (this.#key === undefined) {
      const values = toSessionValues(this.#session);
      const [row] = await run(
        `insert into ${sessions} (${NEW_SESSION_COLUMNS}, is_complete)
          values (${values.map((_, i) => `$${i + 1}`).join(", ")}, false) returning key::text as key, revision`,
        values,
      );
      if (row !== undefined)
        [this.#key, this.#revision] = [readRequiredText(row, "key"), readNumber(row, "revision")];
    }
    const [added] = await run(`select ${addLines}($1, $2::json, 0) as first`, [
      this.#key,
      encodeLinesAsJson(lines),
    ]);
    if (added !== undefined) this.#lastSeq = readNumber(added, "first") + lines.length - 1;
  }
}

async function assertFree(database: Database, names: Names, id: string): Promise<void> {
  const { text, values } = makeSessionSql(id, (where) => `select 1 from ${names.sessions} s where ${where}`);
  if ((await database.query(text, values)).length > 0) throw sessionExists(id);
}
