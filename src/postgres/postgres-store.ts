import { type RemoteStoreOptions, remoteStore } from "../stores/remote-store.ts";
import type { SessionStore } from "../stores/session-store.ts";
import { PostgresBackend, type PostgresOptions } from "./postgres-backend.ts";

/** Where a store's sessions are kept, and how it deals with a server that does not answer. */
export type PostgresStoreOptions = PostgresOptions & RemoteStoreOptions;

/**
 * Makes a store of sessions in PostgreSQL, whose tables `migrate` has made.
 *
 * Nothing is asked of the database until the first call. With a pool that loses connections nothing is lost: what was
 * appended is written when the server is there again.
 *
 * @throws {TypeError} If the schema is no name, or the tenant no text that a database can hold.
 * @remarks Source: docs/postgres.md
 */
export function postgresStore(options: PostgresStoreOptions): SessionStore {
  return remoteStore(new PostgresBackend(options), options);
}
