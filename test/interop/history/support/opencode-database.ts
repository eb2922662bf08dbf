import { existsSync, readFileSync, statSync } from "node:fs";
import type { makeDocument, OpenCodeMessage } from "../../import/support/opencode-records.ts";
import type { Places } from "./places.ts";
import { writableDatabase } from "./writable-database.ts";

/** Folder of the program's data, below the home folder. */
export const DATA = ".local/share/opencode";

export type Document = ReturnType<typeof makeDocument>;

/** The tables of OpenCode 1, and the first one of OpenCode 2. */
export const SCHEMA = `
  CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
    agent text, revert text, time_created integer, time_updated integer);
  CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
  CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
  CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq integer, type text, data text);
  CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer);
  CREATE TABLE session_message (id text, session_id text, seq integer, data text);`;

/** A database as the program writes it, whose changes stay in the log while it is open. */
export class ProgramsDatabase {
  readonly path: string;
  readonly #opened;
  #seq = 0;

  constructor(places: Places, schema = SCHEMA, name = "opencode.db") {
    this.path = places.put(`${DATA}/${name}`, "");
    this.#opened = writableDatabase(this.path, schema);
  }

  run(statement: string, ...values: unknown[]): void {
    this.#opened.prepare(statement).run(...values);
  }

  put({ info, messages }: Document): void {
    const { id, projectID, directory, title, version, time } = info;
    const { parentID = null, revert } = Object(info);
    this.run(
      "INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, 'build', ?, ?, ?)",
      ...[id, projectID, parentID, directory, title, version, revert ? JSON.stringify(revert) : null],
      ...[time.created, time.updated],
    );
    for (const message of messages) this.putMessage(id, message);
  }

  putMessage(session: string, { info, parts }: OpenCodeMessage): void {
    const { id, ...data } = info;
    const { created } = Object(info["time"]);
    this.run(
      "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)",
      id,
      session,
      created,
      created,
      JSON.stringify(data),
    );
    this.#event(session, "message.updated.1", { info });
    for (const one of parts) {
      const { id: partId, ...fields } = Object(one);
      this.run(
        "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?)",
        partId,
        id,
        session,
        created,
        JSON.stringify(fields),
      );
      this.#event(session, "message.part.updated.1", { part: { ...one, messageID: id } });
    }
  }

  deleteMessage(session: string, { info: { id } }: OpenCodeMessage): void {
    this.run("DELETE FROM part WHERE message_id = ?", id);
    this.run("DELETE FROM message WHERE id = ?", id);
    this.#event(session, "message.removed.1", { sessionID: session, messageID: id });
  }

  #event(session: string, type: string, data: object): void {
    const seq = this.#seq++;
    this.run(
      "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
      `evt_${seq}`,
      session,
      seq,
      type,
      JSON.stringify(data),
    );
    this.run("INSERT OR REPLACE INTO event_sequence VALUES (?, ?)", session, seq);
  }

  /** Runs statements without values. */
  exec(statements: string): void {
    this.#opened.exec(statements);
  }

  /** Returns the bytes and times of the database and of the files next to it. */
  state(): unknown {
    const files = ["", "-wal", "-shm"].map((suffix) => this.path + suffix).filter((file) => existsSync(file));
    return files.map((file) => [file, readFileSync(file).toString("base64"), statSync(file).mtimeMs]);
  }
}
