import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Waits for some turns of the event loop, then frees unreferenced objects. */
export async function collectGarbage(): Promise<void> {
  // A weak reference's target is held until the turn ends in which the reference was created or read.
  for (let turn = 0; turn < 3; turn++) {
    await wait(20);
    collect();
  }
}
