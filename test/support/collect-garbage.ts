import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Lets turns pass, in which what waits is done, and frees what nobody holds. */
export async function collectGarbage(): Promise<void> {
  // What a weak reference was made of or gave is held until the turn ends.
  for (let turn = 0; turn < 3; turn++) {
    await wait(20);
    collect();
  }
}
