import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { type Server, startServer } from "./server.ts";

/** Server of a test file, with pools that are ended after it. */
export interface Cluster {
  readonly server: Server;
  /** Creates a pool; `port` is that of a proxy, and a bare one has no listener for its errors. */
  pool(options?: { readonly port?: number; readonly max?: number; readonly isBare?: boolean }): pg.Pool;
}

/** Starts a server before the tests of a file, and removes it after them. */
export function cluster(settings: Readonly<Record<string, string>> = {}): Cluster {
  let server: Server | undefined;
  const pools: pg.Pool[] = [];
  beforeAll(async () => {
    server = await startServer(settings);
  });
  afterAll(async () => {
    await Promise.allSettled(pools.map((pool) => pool.end()));
    await server?.remove();
  });
  const started = () => {
    if (server === undefined) throw new Error("the server is there from the first test on");
    return server;
  };
  return {
    get server() {
      return started();
    },
    pool({ max = 10, isBare = false, ...place } = {}) {
      const pool = new pg.Pool({ connectionString: started().url(place), max });
      if (!isBare) pool.on("error", () => undefined);
      pools.push(pool);
      return pool;
    },
  };
}
