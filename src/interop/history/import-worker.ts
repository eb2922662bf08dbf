import { parentPort, workerData } from "node:worker_threads";
import { FileTarget } from "./import-target.ts";
import type { ThreadResult, ThreadTask } from "./import-threads.ts";
import { type MadeSession, SessionImporter } from "./session-importer.ts";
import type { SourceSession } from "./source-program.ts";

// The program of `ImportThreads`' threads: imports the sessions that it receives, and answers in order.
const { layout, facts }: ThreadTask = workerData;
const importer = new SessionImporter(new FileTarget(layout, () => layout.byId), facts);

async function importWhole(session: SourceSession): Promise<ThreadResult> {
  const made: MadeSession[] = [];
  try {
    for await (const one of importer.import(session)) made.push(one);
    return { made, isWhole: true };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The sender continues the session, meets the same error, and reports it.
    return { made, isWhole: false };
  }
}

let last = Promise.resolve();
parentPort?.on("message", (session: SourceSession) => {
  last = last.then(async () => parentPort?.postMessage(await importWhole(session)));
});
