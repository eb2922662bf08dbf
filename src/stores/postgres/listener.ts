import { randomUUID } from "node:crypto";
import { getOrAdd } from "../../core/format/group-by.ts";
import {
  isPool,
  type PostgresClient,
  type PostgresEmbedded,
  type PostgresNotification,
  type PostgresPool,
} from "./client.ts";
import { acquireConnection, waitFor } from "./database.ts";

/** Milliseconds between attempts to reconnect. */
const RETRY_MS = [50, 100, 200, 500, 1_000, 2_000];

/** Milliseconds between renewals of watches. */
const RENEW_MS = 30_000;

/** Maximum time for a test notification to arrive, in milliseconds. If it does not arrive, watchers poll. */
const PROBE_MS = 5_000;

/** Stops listening on one connection. */
type StopListening = () => Promise<void>;

/** Options for a listener. */
export interface ListenerOptions {
  readonly client: PostgresClient;
  readonly channel: string;
  /** Records in the database which sessions are watched. A record remains valid for several renewal periods. */
  readonly mark: (payloads: readonly string[]) => Promise<unknown>;
  /** Sends a notification over a connection other than the listening connection. */
  readonly notify: (payload: string) => Promise<unknown>;
}

/**
 * Notifies watchers that a session has grown. One connection listens for all sessions of a store.
 *
 * Opens the connection for the first watcher and closes it after the last watcher stops. After a lost connection, reconnects and
 * notifies all watchers, because notifications may have been missed. Records in the database which sessions are
 * watched, so that other sessions do not trigger notifications.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #interested = new Map<string, Set<() => void>>();
  #listening: Promise<StopListening> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #attempts = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Calls `onMore` for each notification with this payload, from the time the promise resolves until the signal aborts. */
  async add(payload: string, onMore: () => void, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    getOrAdd(this.#interested, payload, () => new Set()).add(onMore);
    signal.addEventListener("abort", () => this.#remove(payload, onMore), { once: true });
    try {
      await this.#listen();
      await this.#options.mark([payload]);
    } catch (error) {
      this.#remove(payload, onMore);
      throw error;
    }
  }

  /** Stops all listening. With `discard`, does not wait for a connection that is being opened. */
  async close({ discard = false }: { readonly discard?: boolean } = {}): Promise<void> {
    this.#interested.clear();
    clearTimeout(this.#retry);
    clearTimeout(this.#renewal);
    this.#renewal = undefined;
    const listening = this.#listening;
    this.#listening = undefined;
    // A connection that failed to open need not be closed.
    const ended = listening?.then(
      (stop) => stop(),
      () => undefined,
    );
    if (discard) ended?.catch(() => undefined);
    else await ended;
  }

  #remove(payload: string, onMore: () => void): void {
    const those = this.#interested.get(payload);
    those?.delete(onMore);
    if (those?.size === 0) this.#interested.delete(payload);
    if (this.#interested.size > 0) return;
    // Listening cannot be stopped on a lost connection, so the error is irrelevant.
    void this.close({ discard: true });
  }

  #listen(): Promise<StopListening> {
    if (this.#listening !== undefined) return this.#listening;
    const take = (payload: string) => this.#callAll(this.#interested.get(payload));
    const lost = () => {
      if (this.#listening === listening) this.#listening = undefined;
      this.#listenAgain();
    };
    const { client, channel, notify } = this.#options;
    const listening = isPool(client)
      ? listenAudibly(client, channel, notify, take, lost)
      : listenEmbedded(client, channel, take);
    this.#listening = listening;
    this.#renewal ??= this.#renewLater(false);
    listening.catch(() => {
      if (this.#listening === listening) this.#listening = undefined;
    });
    return listening;
  }

  #listenAgain(): void {
    if (this.#interested.size === 0) return;
    const wait = RETRY_MS[Math.min(this.#attempts++, RETRY_MS.length - 1)];
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.#interested.size === 0) return;
      this.#listen()
        .then(() => this.#options.mark([...this.#interested.keys()]))
        .then(
          () => {
            this.#attempts = 0;
            this.#tellAll();
          },
          () => this.#listenAgain(),
        );
    }, wait);
    this.#retry.unref();
  }

  /** @param isLate - Whether the previous renewal failed, so that notifications may have been missed. */
  #renewLater(isLate: boolean): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#options.mark([...this.#interested.keys()]).then(
        () => {
          if (isLate) this.#tellAll();
          if (this.#renewal === timer) this.#renewal = this.#renewLater(false);
        },
        () => {
          if (this.#renewal === timer) this.#renewal = this.#renewLater(true);
        },
      );
    }, RENEW_MS);
    return timer.unref();
  }

  #tellAll(): void {
    for (const those of this.#interested.values()) this.#callAll(those);
  }

  #callAll(those: Iterable<() => void> | undefined): void {
    for (const onMore of [...(those ?? [])]) onMore();
  }
}

async function listenEmbedded(
  client: PostgresEmbedded,
  channel: string,
  take: (payload: string) => void,
): Promise<StopListening> {
  const stop = await client.listen(channel, take);
  return () => stop();
}

/**
 * Listens on a connection from a pool, and checks that notifications arrive.
 *
 * A pooler such as PgBouncer in transaction mode accepts `LISTEN` but assigns the server connection to other clients,
 * so that no notifications arrive. A test notification detects this.
 *
 * @throws An error that is not a `SessionError`, so that watchers poll instead.
 */
async function listenAudibly(
  pool: PostgresPool,
  channel: string,
  notify: (payload: string) => Promise<unknown>,
  take: (payload: string) => void,
  onLost: () => void,
): Promise<StopListening> {
  const probe = `probe ${randomUUID()}`;
  let hear: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const takeOrHear = (payload: string) => (payload === probe ? hear() : take(payload));
  const stop = await listenOnPool(pool, channel, takeOrHear, onLost);
  try {
    await notify(probe);
    await waitFor(heard, PROBE_MS);
  } catch (error) {
    await stop();
    throw new Error("notifications do not arrive, as with a pooler in transaction mode", { cause: error });
  }
  return stop;
}

async function listenOnPool(
  pool: PostgresPool,
  channel: string,
  take: (payload: string) => void,
  onLost: () => void,
): Promise<StopListening> {
  const connection = await acquireConnection(pool);
  const onNotification = (message: PostgresNotification) => {
    if (message.channel === channel) take(message.payload ?? "");
  };
  let isOver = false;
  const end = (isBroken: boolean) => {
    if (isOver) return false;
    isOver = true;
    connection.off("notification", onNotification);
    // Keeps the error listener, because a closing connection may still fail.
    connection.release(isBroken);
    return true;
  };
  connection.on("notification", onNotification);
  connection.on("error", () => {
    if (end(true)) onLost();
  });
  try {
    await connection.query(`listen ${channel}`);
  } catch (error) {
    end(true);
    throw error;
  }
  return async () => {
    // Closes the connection instead of releasing it, because its next user must not receive notifications.
    end(true);
  };
}
