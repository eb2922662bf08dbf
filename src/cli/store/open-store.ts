import type { CliIo, CliStores } from "../io.ts";

/** PostgreSQL, loaded when somebody asks for it. */
const POSTGRES: CliStores = {
  open: async (url) => {
    const { openPostgresStore } = await import("../../postgres/open-postgres-store.ts");
    return openPostgresStore(url);
  },
  migrate: async (url, to) => {
    const { migratePostgres } = await import("../../postgres/open-postgres-store.ts");
    return migratePostgres(url, to === undefined ? {} : { to });
  },
  migrationSql: async (url, to) => {
    const { postgresMigrationSql } = await import("../../postgres/open-postgres-store.ts");
    return postgresMigrationSql(url, to === undefined ? {} : { to });
  },
};

/** Gives the way to databases. */
export function storesOf({ stores = POSTGRES }: CliIo): CliStores {
  return stores;
}
