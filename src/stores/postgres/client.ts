import { assertArgument } from "../../core/format/arguments.ts";
import type { OptionRule } from "../../core/format/options.ts";

/** Rows returned by a statement. */
export interface PostgresResult {
  readonly rows: unknown[];
}

/** Runs a statement with parameters. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** Notification received by a connection. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** Connection of a pool, as in `pg`. */
export interface PostgresConnection extends PostgresQueries {
  /** Id of the server process, used to cancel an abandoned statement. */
  readonly processID?: number | null | undefined;
  /** Releases the connection to the pool, or closes it if `isBroken` is true. */
  release(isBroken?: boolean): void;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** Connection pool, such as `Pool` from `pg`. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresConnection>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  off(event: "acquire", listener: (connection: PostgresConnection) => void): unknown;
}

/** Database that runs inside the process, such as `PGlite`. */
export interface PostgresEmbedded extends PostgresQueries {
  transaction<T>(run: (queries: PostgresQueries) => Promise<T>): Promise<T>;
  listen(channel: string, take: (payload: string) => void): Promise<() => Promise<void>>;
}

/** Database client. The host provides the driver; this package does not include one. */
export type PostgresClient = PostgresPool | PostgresEmbedded;

const CLIENT: OptionRule = {
  fits: (value) => ["connect", "transaction"].some((name) => name in Object(value)),
  words: "a pool of pg or a PGlite database",
};

/** Returns whether a client is a pool. */
export function isPool(client: PostgresClient): client is PostgresPool {
  assertArgument("client", client, CLIENT);
  return "connect" in client && !("transaction" in client);
}
