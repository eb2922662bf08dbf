import { test } from "vitest";
import type { PostgresClient } from "../../../../src/stores/postgres/client.ts";
import { PostgresBackend } from "../../../../src/stores/postgres/postgres-backend.ts";
import { remoteStore } from "../../../../src/stores/remote/remote-store.ts";
import { faultyBackend } from "../../../../src/stores/suite/faulty-backend.ts";
import { sessionStoreSuite } from "../../../../src/stores/suite/store-suite.ts";

/** Options for retrying without a delay and giving up soon. */
const QUICK = { minRetryMs: 1, maxRetryMs: 5, pollMs: 5 };

/**
 * Runs the suite of all stores over a database that has its tables.
 *
 * @param makeClient - Returns a client: for every call another process's, where there can be several.
 */
export function postgresSuite(makeClient: () => PostgresClient, notify: boolean): void {
  sessionStoreSuite({
    test,
    factory: async () => {
      const client = makeClient();
      await client.query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade");
      const own = new PostgresBackend({ client, notify });
      const { backend, faults } = faultyBackend(own);
      const others: PostgresBackend[] = [];
      const another = () => {
        const other = new PostgresBackend({ client: makeClient(), notify });
        others.push(other);
        return remoteStore(other, QUICK);
      };
      const dispose = async () => {
        for (const other of others) await other.close();
      };
      return { store: remoteStore(backend, QUICK), another, backend: own, faults, dispose };
    },
  });
}
