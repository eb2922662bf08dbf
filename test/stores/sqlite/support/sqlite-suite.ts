import { remoteStore } from "../../../../src/stores/remote/remote-store.ts";
import type { SqliteClient } from "../../../../src/stores/sqlite/client.ts";
import { SqliteBackend } from "../../../../src/stores/sqlite/sqlite-backend.ts";
import { faultyBackend } from "../../../../src/stores/suite/faulty-backend.ts";
import { sessionStoreSuite } from "../../../../src/stores/suite/store-suite.ts";

/** Options for retrying without a delay and giving up soon. */
const QUICK = { minRetryMs: 1, maxRetryMs: 5, pollMs: 5 };

/** An empty database, and further clients of it. */
export interface SuiteDatabase {
  /** Returns a client: for every call another process's, where there can be several. */
  readonly connect: () => SqliteClient;
  readonly dispose: () => void;
}

/** Runs the suite of all stores over SQLite databases. */
export function sqliteSuite(
  test: (name: string, run: () => Promise<void>) => unknown,
  makeDatabase: () => SuiteDatabase,
): void {
  sessionStoreSuite({
    test,
    factory: () => {
      const { connect, dispose } = makeDatabase();
      const own = new SqliteBackend({ database: connect() });
      const { backend, faults } = faultyBackend(own);
      const another = () => remoteStore(new SqliteBackend({ database: connect() }), QUICK);
      return { store: remoteStore(backend, QUICK), another, backend: own, faults, dispose };
    },
  });
}
