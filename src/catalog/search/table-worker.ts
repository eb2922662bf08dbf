import { parentPort, workerData } from "node:worker_threads";
import { closeFile, openToScan, toFileMark } from "../../session/files/file-mark.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { claimFile, type ReadTable, type SharedFiles, type ThreadMessage } from "./table-thread.ts";
import { TermTableReader } from "./term-tables.ts";

// The program of `TableThread`: reads files from the last one, until it meets the thread that reads from the first.
const { paths, claims }: SharedFiles = workerData;
const reader = new TermTableReader(new Pace());

async function readTable(path: string): Promise<ReadTable | undefined> {
  const open = openToScan(path);
  try {
    const table = await reader.readFile(open);
    return table && { mark: toFileMark(open), bytes: table.bytes };
  } finally {
    closeFile(open);
  }
}

for (let at = paths.length - 1; at >= 0 && claimFile(claims, at); at--) {
  let read: ReadTable | undefined;
  try {
    read = await readTable(paths[at] ?? "");
  } catch (error) {
    // The other thread reads it again, and reports it.
    if (!(error instanceof Error)) throw error;
  }
  const message: ThreadMessage = { at, read };
  parentPort?.postMessage(message);
}
