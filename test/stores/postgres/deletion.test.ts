import { migrateDatabase, postgresStore } from "sessiontree/postgres";
import { testDeletion } from "../../interop/adapters/support/deletion.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();
let schemas = 0;

testDeletion("PostgreSQL", async () => {
  schemas++;
  const options = { client: database(), schema: `deletion_${schemas}` };
  await migrateDatabase(options);
  return { ours: postgresStore(options), theirs: postgresStore(options) };
});
