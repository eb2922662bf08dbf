import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Routes of a chat, as frameworks call them. */
export interface Routes {
  POST(request: Request): Promise<Response>;
  GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response>;
}

/** Serves routes as a framework does, on a free port of the loopback address, and prints the address. */
export function serveRoutes(routes: Routes): void {
  const server = createServer((incoming, outgoing) => {
    respond(routes, incoming)
      .then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        const pieces = response.body === null ? [] : readPieces(response.body);
        await pipeline(Readable.from(pieces), outgoing);
      })
      // A browser that goes away in the middle of an answer is no fault.
      .catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, "127.0.0.1", () => {
    const address: AddressInfo | string | null = server.address();
    if (address !== null && typeof address === "object")
      console.log(`http://127.0.0.1:${address.port}/api/chat`);
  });
}

async function* readPieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

async function respond(routes: Routes, incoming: IncomingMessage): Promise<Response> {
  const { url = "/", method = "GET" } = incoming;
  const [, id] = /^\/api\/chat\/([^/]+)\/stream$/.exec(url) ?? [];
  const address = new URL(url, "http://127.0.0.1");
  if (id !== undefined) return routes.GET(new Request(address), { params: Promise.resolve({ id }) });
  let body = "";
  incoming.setEncoding("utf8");
  for await (const piece of incoming) body += String(piece);
  return routes.POST(new Request(address, { method, body, headers: { "content-type": "application/json" } }));
}
