import { migrateDatabase, postgresStore } from "sessiontree/postgres";
import { validateSaver } from "../../interop/adapters/support/langgraph-validation.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();
let schemas = 0;

validateSaver("PostgreSQL", async () => {
  schemas++;
  const options = { client: database(), schema: `langgraph_${schemas}` };
  await migrateDatabase(options);
  return postgresStore(options);
});
