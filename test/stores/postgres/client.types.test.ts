import type { PGlite } from "@electric-sql/pglite";
import type { Pool, PoolClient } from "pg";
import { expectTypeOf, test } from "vitest";
import type {
  PostgresClient,
  PostgresConnection,
  PostgresEmbedded,
  PostgresPool,
} from "../../../src/stores/postgres/client.ts";

test("pg's pool and PGlite are assignable to a client without a cast", () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<Pool>().toExtend<PostgresClient>();
  expectTypeOf<PoolClient>().toExtend<PostgresConnection>();
  expectTypeOf<PGlite>().toExtend<PostgresEmbedded>();
  expectTypeOf<PGlite>().toExtend<PostgresClient>();
});

test("an object that only runs statements is not: an append is a transaction", () => {
  expectTypeOf<{ query(text: string): Promise<{ rows: unknown[] }> }>().not.toExtend<PostgresClient>();
});
