export type {
  PostgresClient,
  PostgresConnection,
  PostgresEmbedded,
  PostgresNotification,
  PostgresPool,
  PostgresQueries,
  PostgresResult,
} from "./postgres/client.ts";
export {
  type MigrateOptions,
  type MigrationResult,
  migrate,
  migrationSql,
  SCHEMA_VERSION,
  schemaVersion,
} from "./postgres/migrate.ts";
export {
  isPostgresUrl,
  type OpenPostgresOptions,
  openPostgresStore,
  type PostgresStoreOptions,
  postgresStore,
} from "./postgres/open-postgres-store.ts";
export { PostgresBackend, type PostgresOptions } from "./postgres/postgres-backend.ts";
