/** Rows of an answer. */
export interface PostgresResult {
  readonly rows: unknown[];
}

/** Whatever runs one statement with parameters. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** What a connection tells when a `NOTIFY` arrives. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** One connection of a pool, as `pg` gives it. */
export interface PostgresConnection extends PostgresQueries {
  /** Releases the connection; with `true` it is closed instead. */
  release(isBroken?: boolean): void;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** A pool of connections: `Pool` of `pg` is one. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresConnection>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  off(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
}

/** A database inside the process: `PGlite` is one. */
export interface PostgresEmbedded extends PostgresQueries {
  transaction<T>(run: (queries: PostgresQueries) => Promise<T>): Promise<T>;
  listen(channel: string, take: (payload: string) => void): Promise<() => Promise<void>>;
}

/** What a store works over. No driver is among this package's own: the host brings one. */
export type PostgresClient = PostgresPool | PostgresEmbedded;

/** Tells the two kinds of client apart. */
export function isPool(client: PostgresClient): client is PostgresPool {
  return "connect" in client && !("transaction" in client);
}
