import { migrateDatabase, postgresStore } from "sessiontree/postgres";
import { claudeContracts } from "../../interop/adapters/support/claude-contracts.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();
let schemas = 0;

claudeContracts("PostgreSQL", async () => {
  schemas++;
  const options = { client: database(), schema: `claude_${schemas}` };
  await migrateDatabase(options);
  return { store: postgresStore(options), another: () => postgresStore(options) };
});
