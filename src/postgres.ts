export type {
  PostgresClient,
  PostgresConnection,
  PostgresEmbedded,
  PostgresPool,
} from "./stores/postgres/client.ts";
export {
  type DeleteSessionsOptions,
  type DeleteTenantOptions,
  deleteSessionsBefore,
  deleteTenant,
} from "./stores/postgres/delete-sessions.ts";
export {
  type MigrateOptions,
  type MigrationResult,
  migrateDatabase,
  migrationSql,
} from "./stores/postgres/migrate.ts";
export {
  type OpenPostgresOptions,
  openPostgresStore,
  type PostgresStoreOptions,
  postgresStore,
} from "./stores/postgres/open-postgres-store.ts";
