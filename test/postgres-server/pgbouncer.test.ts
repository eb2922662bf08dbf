import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { postgresSuite } from "../stores/postgres/support/suite.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../stores/support/lines.ts";
import { cluster } from "./support/cluster.ts";
import { missingPgBouncer, type PgBouncer, startPgBouncer } from "./support/pgbouncer.ts";

const reason = missingPgBouncer === undefined ? "" : ` (skipped: ${missingPgBouncer})`;

describe.skipIf(missingPgBouncer !== undefined)(`through PgBouncer${reason}`, () => {
  const place = cluster();
  let bouncer: PgBouncer;
  const pools: pg.Pool[] = [];
  const poolOf = (mode: "transactions" | "sessions") => {
    const pool = new pg.Pool({ connectionString: bouncer.url(mode), max: 4 });
    pool.on("error", () => undefined);
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    bouncer = await startPgBouncer(place.server);
    await migrateDatabase({ client: poolOf("transactions") });
  });

  afterAll(async () => {
    await bouncer.stop();
    await Promise.allSettled(pools.map((pool) => pool.end()));
  });

  test("polls for a watcher in transaction mode, though notifications are on", async () => {
    const reading = postgresStore({ client: poolOf("transactions"), pollMs: 20 });
    const writing = postgresStore({ client: poolOf("transactions") });
    const theirs = writing.create({ cwd: "/project", createAtOnce: true });
    await theirs.flush();
    const mine = await reading.open(theirs.getSessionId());
    const end = new AbortController();
    const watching = mine.watch({ signal: end.signal });
    const started = performance.now();
    // The first entries are seen while notifications are being tested, the others after the test has failed.
    for (let n = 0; n < 3 || performance.now() - started < 8_000; n++) {
      const seen = watching.next();
      const id = theirs.appendMessage({ role: "user", content: `${n}`, timestamp: n });
      await theirs.flush();
      expect((await seen).value?.id).toBe(id);
    }
    end.abort();
    await watching.next();
    await Promise.all([reading.close(), writing.close()]);
  });

  test("refuses a subscription in transaction mode, and sends hints in session mode", async () => {
    const writer = new PostgresBackend({ client: place.pool() });
    await writer.create(makeSessionFacts("told"), yieldPieces([headerLine("told")]));
    const end = new AbortController();
    const deaf = new PostgresBackend({ client: poolOf("transactions") });
    await expect(deaf.subscribe?.("told", () => undefined, end)).rejects.toThrow(/pooler/);
    const hearing = new PostgresBackend({ client: poolOf("sessions") });
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await hearing.subscribe?.("told", () => tell(), end);
    await writer.append("told", [messageLine("000000a1", null)]);
    await told;
    end.abort();
    await Promise.all([deaf.close(), hearing.close(), writer.close()]);
  });

  describe("in transaction mode without notifications", () => {
    postgresSuite(() => poolOf("transactions"), false);
  });
});
