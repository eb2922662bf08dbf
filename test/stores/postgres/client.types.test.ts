import type { PGlite } from "@electric-sql/pglite";
import type { Pool, PoolClient } from "pg";
import { expectTypeOf, test } from "vitest";
import type {
  PostgresClient,
  PostgresConnection,
  PostgresEmbedded,
  PostgresPool,
} from "../../../src/stores/postgres/client.ts";

test("the pool of pg and PGlite are clients, without a cast", () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<Pool>().toExtend<PostgresClient>();
  expectTypeOf<PoolClient>().toExtend<PostgresConnection>();
  expectTypeOf<PGlite>().toExtend<PostgresEmbedded>();
  expectTypeOf<PGlite>().toExtend<PostgresClient>();
});

test("what runs statements alone is none: an append is a transaction", () => {
  expectTypeOf<{ query(text: string): Promise<{ rows: unknown[] }> }>().not.toExtend<PostgresClient>();
});
