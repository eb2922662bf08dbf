import { createServer, type IncomingMessage } from "node:http";

/** An object store on loopback, in memory, which honors the conditions of PUT and GET as S3 does. */
export interface ObjectServer {
  readonly url: string;
  /** Methods of the requests so far. */
  readonly requests: string[];
  clear(): void;
  close(): Promise<void>;
}

/** Keys in a page of a list: few, so that there is more than one page. */
const PAGE = 3;

export async function startObjectServer(): Promise<ObjectServer> {
  const objects = new Map<string, { readonly body: string; readonly tag: string }>();
  const requests: string[] = [];
  let tags = 0;
  const answer = (
    request: IncomingMessage,
    url: URL,
    body: string,
  ): { status: number; body?: string; tag?: string } => {
    const key = url.pathname.slice(1);
    const there = objects.get(key);
    const [ifMatch, ifNoneMatch] = [request.headers["if-match"], request.headers["if-none-match"]];
    if (request.method === "DELETE") return { status: objects.delete(key) ? 204 : 404 };
    if (request.method === "PUT") {
      if (ifMatch !== undefined && there?.tag !== ifMatch) return { status: 412 };
      if (ifNoneMatch === "*" && there !== undefined) return { status: 412 };
      const tag = `"${++tags}"`;
      objects.set(key, { body, tag });
      return { status: 200, tag };
    }
    if (url.searchParams.get("list-type") === "2") {
      const token = url.searchParams.get("continuation-token") ?? "";
      const keys = [...objects.keys()].sort().filter((one) => one > token);
      const page = keys.slice(0, PAGE).map((one) => `<Key>${one}</Key>`);
      const next =
        keys.length > PAGE ? `<NextContinuationToken>${keys[PAGE - 1]}</NextContinuationToken>` : "";
      return { status: 200, body: `<ListBucketResult>${page.join("")}${next}</ListBucketResult>` };
    }
    if (there === undefined) return { status: 404 };
    return ifNoneMatch === there.tag ? { status: 304 } : { status: 200, ...there };
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      requests.push(request.method ?? "");
      const {
        status,
        body = "",
        tag,
      } = answer(request, new URL(request.url ?? "", "http://x"), Buffer.concat(pieces).toString());
      response.writeHead(status, tag === undefined ? {} : { etag: tag });
      response.end(status === 304 || status === 204 ? undefined : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    requests,
    clear: () => objects.clear(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
