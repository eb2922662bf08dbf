import { toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import type { LinkedSession } from "./entry-facts.ts";

/** Metadata of the session in a page; the session itself is in blocks, or is fetched from a server. */
export interface EmbeddedSession {
  /** Name of the file, without its folder. */
  readonly fileName: string;
  /** Its path when the page was created; its name if it has no path. */
  readonly path: string;
  /** Size of the file in bytes when the page was created; 0 if unknown. */
  readonly size: number;
  /** Id of the entry at the end of the path that the page opens; undefined for the session's leaf. */
  readonly leafId: string | undefined;
  /** Other sessions that exist, by the path or id that this session uses for them; fetched if there is a server. */
  readonly known: ReadonlyMap<string, LinkedSession>;
  /** Addresses of the session on a server; undefined in a file. */
  readonly server:
    | {
        readonly bytesUrl: string;
        readonly knownUrl: string;
        readonly eventsUrl: string;
        /** Address of the session's usage as counted in the list; undefined without a list. */
        readonly usageUrl: string | undefined;
      }
    | undefined;
  /** Address of the list of sessions from which this session was opened. */
  readonly indexUrl: string | undefined;
}

/**
 * Reads the metadata that the command line embedded in the page.
 *
 * @param json - Text of the element.
 */
export function readEmbedded(json: string): EmbeddedSession {
  const fields = toRecord(JSON.parse(json));
  const { size } = fields;
  const { bytesUrl, knownUrl, eventsUrl, usageUrl } = toRecord(fields["server"]);
  const server = {
    bytesUrl: toText(bytesUrl),
    knownUrl: toText(knownUrl),
    eventsUrl: toText(eventsUrl),
    usageUrl: toText(usageUrl) || undefined,
  };
  return {
    fileName: toText(fields["fileName"]),
    path: toText(fields["path"]) || toText(fields["fileName"]),
    size: typeof size === "number" ? size : 0,
    leafId: toText(fields["leafId"]) || undefined,
    known: readKnown(fields["known"]),
    server: server.bytesUrl === "" ? undefined : server,
    indexUrl: toText(fields["indexUrl"]) || undefined,
  };
}

/** Reads the existing sessions, keyed by the path or id that another session uses for them. */
export function readKnown(value: unknown): Map<string, LinkedSession> {
  return new Map(Object.entries(toRecord(value)).map(([name, one]) => [name, toLink(one)]));
}

function toLink(value: unknown): LinkedSession {
  const { path, href } = toRecord(value);
  return { path: toText(path), href: toText(href) || undefined };
}

declare global {
  interface Uint8ArrayConstructor {
    fromBase64?(base64: string): Uint8Array<ArrayBuffer>;
  }
}

/** Type of the elements that contain the bytes of a session. */
const BLOCK_TYPE = "application/gzip";

/**
 * Yields the bytes of a session in chunks from the blocks of a page; each block is compressed separately and encoded in base64.
 */
export async function* readPagePieces(document: Document): AsyncGenerator<Uint8Array, void> {
  for (let isLoaded = false; !isLoaded; await waitForMore(document)) {
    isLoaded = document.readyState !== "loading";
    const blocks = [...document.querySelectorAll(`script[type="${BLOCK_TYPE}"]`)];
    // While a page is loading, its last block may be incomplete.
    for (const block of isLoaded ? blocks : blocks.slice(0, -1)) {
      const bytes = decodeBytes(block.textContent);
      // Removing the block avoids keeping its bytes twice.
      block.remove();
      yield* readStream(new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip")));
    }
  }
}

/** Resolves when another part of a page, or all of it, has been loaded. */
async function waitForMore(document: Document): Promise<void> {
  if (document.readyState !== "loading") return;
  await new Promise<void>((resolve) => {
    document.addEventListener("readystatechange", () => resolve(), { once: true });
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(document.body, { childList: true });
  });
}

/** Yields the pieces of a stream. */
export async function* readStream(
  stream: ReadableStream<Uint8Array> | null | undefined,
): AsyncGenerator<Uint8Array, void> {
  const reader = stream?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return;
    yield value;
  }
}

/** Decodes bytes that the command line encoded. */
export function decodeBytes(base64: string): Uint8Array<ArrayBuffer> {
  // Browsers since 2025 have a native decoder, which is several times as fast.
  if (Uint8Array.fromBase64 !== undefined) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
