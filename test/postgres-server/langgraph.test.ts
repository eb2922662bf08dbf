import { migrateDatabase, postgresStore } from "sessiontree/postgres";
import { validateSaver } from "../interop/adapters/support/langgraph-validation.ts";
import { testOtherProcesses } from "../interop/adapters/support/other-processes.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster({ max_connections: "400" });
let schemas = 0;

/** Creates a schema with its own tables. */
async function newSchema() {
  const options = { client: place.pool({ max: 2 }), schema: `langgraph_${++schemas}` };
  await migrateDatabase(options);
  return options;
}

validateSaver("a PostgreSQL server", async () => postgresStore(await newSchema()));

testOtherProcesses(async () => {
  const options = await newSchema();
  return {
    address: `${place.server.url()}?schema=${options.schema}`,
    openStore: () => postgresStore(options),
  };
});
