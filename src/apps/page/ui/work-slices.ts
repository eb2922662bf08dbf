/** Milliseconds after which work leaves the turn to other work. */
const SLICE_MS = 40;

/** Begins a slice of work; the function tells whether it is over. */
export function sliceOfWork(milliseconds = SLICE_MS): () => boolean {
  const endMs = performance.now() + milliseconds;
  return () => performance.now() > endMs;
}

/** Resolves once other work had its turn. A timer would take longer, and in a page that is out of sight a second. */
export function otherWork(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
