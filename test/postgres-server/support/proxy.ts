import { connect, createServer, type Server as NetServer, type Socket } from "node:net";

/** A proxy between clients and the server that causes faults. */
export interface TcpProxy {
  readonly port: number;
  /** Port of the server for new connections. */
  target: number;
  /** Returns for each new connection the number of bytes, counted over both directions, after which it is cut. */
  cutAfter: () => number;
  /** Whether connections made from now on are cut, or fall silent and stay open. */
  isSilent: boolean;
  /** Delay of each piece of an answer, in milliseconds. */
  delayMs: number;
  /** Number of connections made so far. */
  readonly connections: number;
  /** Number of connections cut so far. */
  readonly cuts: number;
  /** Cuts all existing connections. */
  cutAll(): void;
  close(): Promise<void>;
}

/** Starts a proxy for a loopback port. */
export async function startProxy(host: string, target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [connections, cuts] = [0, 0];
  const server: NetServer = createServer((client) => {
    connections++;
    const upstream = connect(proxy.target, host);
    let left = proxy.cutAfter();
    const { isSilent } = proxy;
    const cut = () => {
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    const pass = (from: Socket, to: Socket, delayMs: () => number) => {
      sockets.add(from);
      from.on("data", (bytes: Buffer) => {
        const part = bytes.subarray(0, left);
        left -= part.length;
        if (delayMs() > 0) setTimeout(() => to.destroyed || to.write(part), delayMs());
        else to.write(part);
        if (left > 0 || sockets.has(from) === false) return;
        cuts++;
        sockets.delete(from);
        if (!isSilent) cut();
      });
      from.on("close", cut);
      from.on("error", cut);
    };
    pass(client, upstream, () => 0);
    pass(upstream, client, () => proxy.delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  const proxy: TcpProxy = {
    port: address.port,
    target,
    cutAfter: () => Number.POSITIVE_INFINITY,
    delayMs: 0,
    isSilent: false,
    get connections() {
      return connections;
    },
    get cuts() {
      return cuts;
    },
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      proxy.cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
