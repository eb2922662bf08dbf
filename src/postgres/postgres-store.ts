import { type RemoteStoreOptions, remoteStore } from "../stores/remote-store.ts";
import type { SessionStore } from "../stores/session-store.ts";
import { PostgresBackend, type PostgresOptions } from "./postgres-backend.ts";

/** Options of a store in PostgreSQL, including retries. */
export interface PostgresStoreOptions extends PostgresOptions, RemoteStoreOptions {}

/**
 * Makes a store of sessions in PostgreSQL. Create the tables with `migrate` first.
 *
 * Does not connect before the first call. If a pool loses its connections, nothing is lost: appended entries are
 * written once the server is back.
 *
 * @throws {TypeError} If the schema is not a name, or a database cannot hold the tenant.
 * @remarks Source: docs/postgres.md
 */
export function postgresStore(options: PostgresStoreOptions): SessionStore {
  return remoteStore(new PostgresBackend(options), options);
}
