import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Recall } from "../recall/recall.ts";
import { loadSdk, loadStdio, makeServer } from "./recall-server.ts";

/** Streams of a stdio server, and its error callback. */
export interface ServeStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly onError: (error: Error) => void;
}

/** Answers requests from one client until the client ends its stream. */
export async function serveRecall(recall: Recall, { input, output, onError }: ServeStreams): Promise<void> {
  await loadSdk();
  const { serveStdio, StdioServerTransport } = await loadStdio();
  const transport = new StdioServerTransport(input, output);
  const ended = finished(input, { writable: false });
  const server = serveStdio(() => makeServer(recall), { transport, onerror: onError });
  try {
    await ended;
  } finally {
    await server.close();
  }
}
