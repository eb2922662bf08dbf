declare global {
  interface Uint8ArrayConstructor {
    fromBase64?(base64: string): Uint8Array<ArrayBuffer>;
  }
}

/** Marks the elements that hold the bytes of a session. */
const BLOCK_TYPE = "application/gzip";

/** Yields the bytes of a session piece by piece from the blocks of a page: each is compressed by itself, and written in base64. */
export async function* piecesInPage(document: Document): AsyncGenerator<Uint8Array, void> {
  for (let isLoaded = false; !isLoaded; await loadedMore(document)) {
    isLoaded = document.readyState !== "loading";
    const blocks = [...document.querySelectorAll(`script[type="${BLOCK_TYPE}"]`)];
    // Of a page that is being loaded the last one may lack its end.
    for (const block of isLoaded ? blocks : blocks.slice(0, -1)) {
      const bytes = bytesOf(block.textContent);
      // What was read is kept once, not twice.
      block.remove();
      yield* piecesOf(new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip")));
    }
  }
}

/** Resolves once more of a page has been loaded, or all of it. */
async function loadedMore(document: Document): Promise<void> {
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
export async function* piecesOf(
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
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  // Browsers of 2025 do that themselves, several times as quick.
  if (Uint8Array.fromBase64 !== undefined) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
