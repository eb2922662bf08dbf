export type {
  SqliteClient,
  SqliteConnection,
  SqliteObjectStorage,
  SqliteStatement,
  SqliteValue,
} from "./stores/sqlite/client.ts";
export {
  type OpenSqliteOptions,
  openSqliteStore,
  type SqliteStoreOptions,
  sqliteStore,
} from "./stores/sqlite/open-sqlite-store.ts";
