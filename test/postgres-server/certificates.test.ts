import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { openPostgresStore, postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster({ ssl: "on" });

const refusal = (code: string) => ({
  code: "STORE_UNAVAILABLE",
  message: expect.stringContaining(`database server's certificate was rejected (${code})`),
  details: { code },
});

test("immediately reports an untrusted certificate as such, in reading and in writing", async () => {
  // Repeated retries would exceed this test's timeout.
  const options = { giveUpAfterMs: 600_000 };
  const store = await openPostgresStore(`${place.server.url()}?sslmode=verify-full`, options);
  await expect(store.open("one")).rejects.toMatchObject(refusal("DEPTH_ZERO_SELF_SIGNED_CERT"));
  const session = store.create({ cwd: "/project", createAtOnce: true });
  await expect(session.flush()).rejects.toMatchObject(refusal("DEPTH_ZERO_SELF_SIGNED_CERT"));
  await store.close({ discard: true });
});

test("refuses another host's certificate, and accepts one that the client trusts", async () => {
  const ca = readFileSync(join(place.server.dataFolder, "server.crt"), "utf8");
  const poolFor = (servername: string) =>
    new pg.Pool({ connectionString: place.server.url(), ssl: { ca, servername } });
  const [wrong, right] = [poolFor("elsewhere.example"), poolFor("localhost")];
  await expect(migrateDatabase({ client: wrong })).rejects.toMatchObject(
    refusal("ERR_TLS_CERT_ALTNAME_INVALID"),
  );
  await migrateDatabase({ client: right });
  const store = postgresStore({ client: right });
  await store.create({ cwd: "/project", createAtOnce: true }).close();
  await store.close();
  await Promise.all([wrong.end(), right.end()]);
});
