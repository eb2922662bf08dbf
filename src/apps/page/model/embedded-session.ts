import { toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import type { LinkedSession } from "./entry-facts.ts";

/** What a page says of the session that it shows; the session itself stands in blocks, or is fetched from a server. */
export interface EmbeddedSession {
  /** Name of the file, without its folder. */
  readonly fileName: string;
  /** Its path where the page was made; its name if it has none. */
  readonly path: string;
  /** Bytes of the file when the page was made; 0 if that is not known. */
  readonly size: number;
  /** The entry at whose path the page opens; undefined for the session's leaf. */
  readonly leafId: string | undefined;
  /** Other sessions that exist, by the path or id by which this one names them; a server is asked for them. */
  readonly known: ReadonlyMap<string, LinkedSession>;
  /** Where a server has the session; undefined in a file. */
  readonly server:
    | {
        readonly bytesUrl: string;
        readonly knownUrl: string;
        readonly eventsUrl: string;
        /** Tells what the list counts of it; undefined without a list. */
        readonly usageUrl: string | undefined;
      }
    | undefined;
  /** Address of the list of sessions that this one was opened from. */
  readonly indexUrl: string | undefined;
}

/**
 * Reads what the command line put into the page.
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

/** Reads which sessions exist, by the path or id by which another one names them. */
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

/** Marks the elements that hold the bytes of a session. */
const BLOCK_TYPE = "application/gzip";

/** Yields the bytes of a session piece by piece from the blocks of a page: each is compressed by itself, and written in base64. */
export async function* readPagePieces(document: Document): AsyncGenerator<Uint8Array, void> {
  for (let isLoaded = false; !isLoaded; await waitForMore(document)) {
    isLoaded = document.readyState !== "loading";
    const blocks = [...document.querySelectorAll(`script[type="${BLOCK_TYPE}"]`)];
    // Of a page that is being loaded the last one may lack its end.
    for (const block of isLoaded ? blocks : blocks.slice(0, -1)) {
      const bytes = decodeBytes(block.textContent);
      // What was read is kept once, not twice.
      block.remove();
      yield* readStream(new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip")));
    }
  }
}

/** Resolves once more of a page has been loaded, or all of it. */
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

/** Decodes bytes as the command line writes them. */
export function decodeBytes(base64: string): Uint8Array<ArrayBuffer> {
  // Browsers of 2025 do that themselves, several times as quick.
  if (Uint8Array.fromBase64 !== undefined) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
