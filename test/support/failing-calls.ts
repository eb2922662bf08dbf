import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/**
 * Makes a call of the file system fail for every caller, as a test cannot do with disks and users without privileges.
 *
 * @param isMeant - Whether a call with this first argument fails. Default: every call does.
 * @returns A function that restores the call. Idempotent.
 */
export function failing(
  call: "openSync" | "writeSync" | "readSync" | "readdirSync" | "linkSync",
  error: Error,
  isMeant: (first: unknown) => boolean = () => true,
): () => void {
  const whole = fs[call];
  Object.assign(fs, {
    [call]: (...given: unknown[]) => {
      if (isMeant(given[0])) throw error;
      return Reflect.apply(whole, fs, given);
    },
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { [call]: whole });
    syncBuiltinESMExports();
  };
}
