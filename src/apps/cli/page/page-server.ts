import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PriceFunction } from "../../../catalog/usage/usage-groups.ts";
import { getErrorMessage } from "../../../core/format/errors.ts";
import type { CatalogScope } from "../../../session/files/session-files.ts";
import {
  type FileIdentity,
  getOpenState,
  isSameFile,
  toFileState,
} from "../../../session/fs/file-identity.ts";
import { callIfPresent, readRange, realFileSystem, withOpenFile } from "../../../session/fs/file-system.ts";
import type { ImportableSessions } from "../importable-sessions.ts";
import {
  FailureFinder,
  makeIndexPage,
  searchIndex,
  sumIndexUsage,
  sumSessionUsage,
} from "./session-index.ts";
import { findLinkedSessions, makeSessionPage } from "./session-page.ts";

/** Loopback address, which only this machine can reach. */
const HOST = "127.0.0.1";

/** Number of bytes in the token: too many to guess. */
const TOKEN_BYTES = 24;

/** Interval between checks of a file that a page follows, in milliseconds. */
const POLL_MS = 300;

/** Sessions to list. */
export interface ServedIndex {
  readonly scope: CatalogScope;
  readonly name: string;
  /** Returns prices of calls whose records state no cost. */
  readonly prices?: PriceFunction;
  /** Counts other programs' sessions that can be imported; undefined for a folder, because sessions are not imported into it. */
  readonly countImportable?: (() => Promise<readonly ImportableSessions[]>) | undefined;
}

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

/**
 * Serves pages of sessions to browsers on this machine, and sends them appended data.
 *
 * Listens only on the loopback address, and answers only requests for an address with its token. A page can request only sessions
 * that were listed, named on the command line, or referenced by one of these.
 */
export class PageServer {
  readonly #token = randomBytes(TOKEN_BYTES).toString("base64url");
  readonly #index: ServedIndex | undefined;
  /** Session paths, by the key in their addresses. */
  readonly #paths = new Map<string, string>();
  readonly #failures = new FailureFinder();
  readonly #server: Server;
  #port = 0;

  constructor(index: ServedIndex | undefined) {
    this.#index = index;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Starts listening on a free port. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, HOST, resolve);
    });
    const address = this.#server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
  }

  get indexUrl(): string {
    return `http://${HOST}:${this.#port}/${this.#token}/`;
  }

  /** Registers a session, and returns the address of its page. */
  makeUrl(path: string): string {
    return `http://${HOST}:${this.#port}${this.#makeHref(path)}`;
  }

  /** Stops the server, and aborts all pending answers. */
  async stop(): Promise<void> {
    const isClosed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await isClosed;
  }

  #makeHref = (path: string): string => {
    const key = createHash("sha256").update(path).digest("base64url").slice(0, 16);
    this.#paths.set(key, path);
    return `/${this.#token}/session/${key}`;
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Rejects requests that other websites send through a browser on this machine, under their own host names.
    const isMeant = request.headers.host === `${HOST}:${this.#port}`;
    const url = parseAddress(request);
    const [, token = "", ...rest] = url?.pathname.split("/") ?? [];
    if (!isMeant || url === undefined || !this.#isToken(token))
      return writeText(response, 403, "Forbidden: this address lacks its token.");
    if (request.method !== "GET") return writeText(response, 405, "Only GET is allowed.");
    const answer = this.#answerFor(rest);
    if (answer === undefined) return writeText(response, 404, "There is nothing at this address.");
    try {
      await answer(request, response, url);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else writeText(response, 500, getErrorMessage(error));
    }
  }

  #isToken(text: string): boolean {
    const [own, other] = [Buffer.from(this.#token), Buffer.from(text)];
    return own.length === other.length && timingSafeEqual(own, other);
  }

  #answerFor([what, key = "", part]: readonly string[]): Answer | undefined {
    const path = this.#paths.get(key);
    const index = this.#index;
    if (what === "session" && path !== undefined) {
      if (part === undefined) return (_, response) => this.#writeSession(response, path);
      if (part === "failures") return (_, response) => writeJson(response, this.#failures.findFailures(path));
      if (part === "usage" && index !== undefined)
        return async (request, response) =>
          writeJson(response, await sumSessionUsage(index.scope, makeCounting(request, index), path));
      if (part === "bytes") return (_, response, url) => this.#writeBytes(response, url, path);
      if (part === "known")
        return (_, response) =>
          writeJson(response, Object.fromEntries(findLinkedSessions(path, this.#makeHref)));
      return part === "events"
        ? (request, response, url) => this.#follow(request, response, url, path)
        : undefined;
    }
    if (index === undefined) return undefined;
    if (what === "") return (_, response) => this.#writeIndex(response, index);
    if (what === "usage")
      return async (request, response) =>
        writeJson(response, await sumIndexUsage(index.scope, makeCounting(request, index), this.#makeHref));
    const { countImportable } = index;
    if (what === "importable" && countImportable !== undefined)
      return async (_, response) => writeJson(response, await countImportable());
    return what === "search"
      ? (request, response, url) => this.#search(request, response, url, index)
      : undefined;
  }

  #writeSession(response: ServerResponse, path: string): void {
    const which = new URLSearchParams({ file: getFileIdentity(path) ?? "" });
    const href = this.#makeHref(path);
    const page = makeSessionPage(
      { path, fileName: basename(path) },
      {
        server: {
          bytesUrl: `${href}/bytes?${which}`,
          knownUrl: `${href}/known`,
          eventsUrl: `${href}/events?${which}`,
          ...(this.#index !== undefined && { usageUrl: `${href}/usage` }),
        },
        indexUrl: this.#index === undefined ? undefined : `/${this.#token}/`,
      },
    );
    writeBody(response, 200, "text/html", page);
  }

  /** Writes the current content of the file; responds with 409 if the file was replaced after the page was created. */
  async #writeBytes(response: ServerResponse, url: URL, path: string): Promise<void> {
    const follower = new FileFollower(path, 0, url.searchParams.get("file") ?? "");
    const first = follower.poll();
    if (first?.kind === "replaced") return writeText(response, 409, REPLACED);
    response.writeHead(200, { ...HEADERS, "Content-Type": "application/octet-stream" });
    await pipeline(Readable.from(readFollowed(follower, first)), response);
  }

  async #writeIndex(response: ServerResponse, { scope, name, countImportable }: ServedIndex): Promise<void> {
    const [searchUrl, usageUrl] = [`/${this.#token}/search`, `/${this.#token}/usage`];
    const importableUrl = countImportable && `/${this.#token}/importable`;
    const addresses = { makeHref: this.#makeHref, searchUrl, usageUrl, importableUrl };
    writeBody(response, 200, "text/html", await makeIndexPage(scope, name, addresses));
  }

  async #search(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    index: ServedIndex,
  ): Promise<void> {
    const query = url.searchParams.get("q") ?? "";
    writeJson(response, await searchIndex(index.scope, query, this.#makeHref, makeGoneSignal(request)));
  }

  /** Sends appended data to a page, as events, until either side closes the connection. */
  #follow(request: IncomingMessage, response: ServerResponse, url: URL, path: string): void {
    // A browser that reconnects sends the offset that it has reached.
    const from = Number(request.headers["last-event-id"] ?? url.searchParams.get("from"));
    const offset = Number.isSafeInteger(from) && from >= 0 ? from : 0;
    const follower = new FileFollower(path, offset, url.searchParams.get("file") ?? "");
    response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" });
    response.write(": following\n\n");
    let wasWriting: boolean | undefined;
    const look = () => {
      const writtenMs = getLatestWriteMs(path);
      const isWriting = writtenMs !== undefined;
      if (isWriting !== wasWriting) response.write(`event: writing\ndata: ${writtenMs ?? ""}\n\n`);
      wasWriting = isWriting;
      // Data that the browser has not read yet would accumulate in memory.
      let isFree = !response.writableNeedDrain;
      try {
        while (isFree) {
          const change = follower.poll();
          if (change === undefined) return;
          if (change.kind === "replaced") {
            response.end("event: replaced\ndata:\n\n");
            return;
          }
          isFree = response.write(`id: ${follower.offset}\ndata: ${change.bytes.toString("base64")}\n\n`);
        }
      } catch (error) {
        response.end(`event: failed\ndata: ${JSON.stringify(getErrorMessage(error))}\n\n`);
      }
    };
    const timer = setInterval(look, POLL_MS);
    response.once("close", () => clearInterval(timer));
    look();
  }
}

/** Headers that prevent other pages from storing, embedding, or reading responses. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const REPLACED = "The file at this path was replaced.";

/** Yields a file to its end; throws if the file is replaced in the meantime, because the content would not match. */
function* readFollowed(follower: FileFollower, first: FileChange | undefined): Generator<Buffer, void> {
  for (let change = first; change !== undefined; change = follower.poll()) {
    if (change.kind === "replaced") throw new Error(REPLACED);
    yield change.bytes;
  }
}

function makeCounting(request: IncomingMessage, { prices }: ServedIndex) {
  return { ...(prices && { prices }), signal: makeGoneSignal(request) };
}

function makeGoneSignal(request: IncomingMessage): AbortSignal {
  const gone = new AbortController();
  request.once("close", () => gone.abort());
  return gone.signal;
}

/** Returns the requested address; undefined if it is invalid. */
function parseAddress({ url = "/" }: IncomingMessage): URL | undefined {
  const base = `http://${HOST}`;
  return URL.canParse(url, base) ? new URL(url, base) : undefined;
}

function writeText(response: ServerResponse, status: number, text: string): void {
  writeBody(response, status, "text/plain", `${text}\n`);
}

function writeJson(response: ServerResponse, data: object): void {
  writeBody(response, 200, "application/json", JSON.stringify(data));
}

function writeBody(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { ...HEADERS, "Content-Type": `${type}; charset=utf-8` });
  response.end(body);
}

/** Change of a file: bytes appended after those that were read, or a different file at its path. */
type FileChange = { readonly kind: "grown"; readonly bytes: Buffer } | { readonly kind: "replaced" };

const MAX_BYTES = 4 * 1024 * 1024;

/** Returns a string that distinguishes a file from others at the same path; undefined if there is no file. */
export function getFileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && formatIdentity(toFileState(stats));
}

function formatIdentity({ dev, ino, birthtimeNs, ctimeNs }: FileIdentity): string {
  return [dev, ino, birthtimeNs, ctimeNs].join("-");
}

/** Parses the result of `getFileIdentity`; undefined for any other string. */
function parseIdentity(text: string): FileIdentity | undefined {
  const numbers = /^(\d+)-(\d+)-(\d+)-(\d+)$/.exec(text)?.slice(1).map(BigInt) ?? [];
  const [dev, ino, birthtimeNs, ctimeNs] = numbers;
  if (dev === undefined || ino === undefined || birthtimeNs === undefined || ctimeNs === undefined)
    return undefined;
  return { dev, ino, birthtimeNs, ctimeNs };
}

/**
 * Time after its last write during which a program is considered to be writing, in milliseconds: model and tool calls take time.
 */
const WRITING_MS = 60_000;

/** Returns the time of a file's last change, in Unix milliseconds; undefined if it was too long ago to be still written. */
function getLatestWriteMs(path: string): number | undefined {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs < WRITING_MS ? mtimeMs : undefined;
}

/** Reads data appended to a file. */
export class FileFollower {
  readonly #path: string;
  readonly #file: FileIdentity | undefined;
  #offset: number;

  /**
   * @param offset - Number of bytes that are already known.
   * @param file - File from which they were read, as returned by `getFileIdentity`.
   */
  constructor(path: string, offset: number, file: string) {
    this.#path = path;
    this.#offset = offset;
    this.#file = parseIdentity(file);
  }

  get offset(): number {
    return this.#offset;
  }

  /** Reads new bytes, at most 4 MiB, or reports a replaced file; undefined if there are no new bytes or no file. */
  poll(): FileChange | undefined {
    return callIfPresent(() => withOpenFile(realFileSystem, this.#path, (fd) => this.#readNew(fd)));
  }

  #readNew(fd: number): FileChange | undefined {
    const state = getOpenState(realFileSystem, fd);
    const { size } = state;
    if (!isSameFile(this.#file, state) || size < this.#offset) return { kind: "replaced" };
    if (size === this.#offset) return undefined;
    const bytes = readRange(realFileSystem, fd, this.#offset, Math.min(size - this.#offset, MAX_BYTES));
    this.#offset += bytes.length;
    return { kind: "grown", bytes };
  }
}
