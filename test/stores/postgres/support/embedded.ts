import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { afterAll, beforeAll } from "vitest";

/** Starts the database of a test file, which takes a second or more. */
export function embeddedDatabase(options: { readonly hasTrigrams?: boolean } = {}): () => PGlite {
  let database: PGlite | undefined;
  beforeAll(async () => {
    database = await PGlite.create(options.hasTrigrams ? { extensions: { pg_trgm } } : {});
  });
  afterAll(() => database?.close());
  return () => {
    if (database === undefined) throw new Error("the database is there from the first test on");
    return database;
  };
}
