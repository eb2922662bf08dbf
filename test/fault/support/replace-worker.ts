import { type MessagePort, workerData } from "node:worker_threads";
import { type FileSystem, watchedFs } from "./faulty-fs.ts";
import { REPLACEMENTS } from "./replacements.ts";
import { DONE, type Job, type StoppedBy } from "./stopped-replacement.ts";
import { type System, systemFs } from "./systems.ts";

const { state, port }: { state: StoppedBy; port: MessagePort } = workerData;
const [ALLOWED, ARRIVED] = [0, 1];

/** Number of calls since the rename, which is the first. */
let calls = 0;

/** Creates a file system that stops before each call from the rename on, until the main thread allows it. */
function stopping(system: System): FileSystem {
  calls = 0;
  return watchedFs((name) => {
    if (calls === 0 && name !== "renameSync") return;
    calls++;
    for (;;) {
      const allowed = Atomics.load(state, ALLOWED);
      if (calls <= allowed) return;
      arrive(calls);
      Atomics.wait(state, ALLOWED, allowed);
    }
  }, systemFs(system));
}

function arrive(at: number): void {
  Atomics.store(state, ARRIVED, at);
  Atomics.notify(state, ARRIVED);
}

port.on("message", ({ task, path, system }: Job) => {
  let error: string | undefined;
  try {
    REPLACEMENTS[task](path, stopping(system));
  } catch (cause) {
    error = String(cause);
  }
  port.postMessage({ error, calls });
  arrive(DONE);
});
