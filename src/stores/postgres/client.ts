/** Rows returned by a statement. */
export interface PostgresResult {
  readonly rows: unknown[];
}

/** Runs a statement with parameters. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** A notification, as a connection reports it. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** A connection of a pool, as in `pg`. */
export interface PostgresConnection extends PostgresQueries {
  /** Id of the server's process, with which an abandoned statement can be canceled. */
  readonly processID?: number | null | undefined;
  /** Releases the connection; with `true`, closes it. */
  release(isBroken?: boolean): void;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** A pool of connections, such as `Pool` of `pg`. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresConnection>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  off(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
}

/** A database inside the process, such as `PGlite`. */
export interface PostgresEmbedded extends PostgresQueries {
  transaction<T>(run: (queries: PostgresQueries) => Promise<T>): Promise<T>;
  listen(channel: string, take: (payload: string) => void): Promise<() => Promise<void>>;
}

/** A database client. The host brings the driver; this package includes none. */
export type PostgresClient = PostgresPool | PostgresEmbedded;

/** Returns whether a client is a pool. */
export function isPool(client: PostgresClient): client is PostgresPool {
  return "connect" in client && !("transaction" in client);
}
