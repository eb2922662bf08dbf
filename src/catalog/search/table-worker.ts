import { parentPort, workerData } from "node:worker_threads";
import { Pace } from "../../session/files/time-slices.ts";
import { claimFile, type SharedFiles, type ThreadMessage } from "./table-thread.ts";
import { type ReadTable, TermTableReader } from "./term-tables.ts";

// Program that `TableThread` runs. Reads files from last to first, until it meets the thread that reads in the other
// direction.
const { paths, claims }: SharedFiles = workerData;
const reader = new TermTableReader(new Pace());

for (let at = paths.length - 1; at >= 0 && claimFile(claims, at); at--) {
  let read: ReadTable | undefined;
  try {
    read = await reader.readPath(paths[at] ?? "");
  } catch (error) {
    // The other thread reads the file again, and reports the error.
    if (!(error instanceof Error)) throw error;
  }
  const message: ThreadMessage = { at, read };
  parentPort?.postMessage(message);
}
