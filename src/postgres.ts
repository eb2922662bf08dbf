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
  type DeleteSessionsOptions,
  type DeleteTenantOptions,
  deleteSessionsBefore,
  deleteTenant,
} from "./postgres/delete-sessions.ts";
export { type MigrateOptions, type MigrationResult, migrate, migrationSql } from "./postgres/migrate.ts";
export {
  type OpenPostgresOptions,
  openPostgresStore,
  type PostgresStoreOptions,
  postgresStore,
} from "./postgres/open-postgres-store.ts";
