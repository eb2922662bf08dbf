import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/**
 * Makes a call of the file system fail for everybody, as a test without rights over disks and users can.
 *
 * @returns Makes it work again. Idempotent.
 */
export function failing(call: "openSync" | "writeSync", error: Error): () => void {
  const whole = fs[call];
  Object.assign(fs, {
    [call]: () => {
      throw error;
    },
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { [call]: whole });
    syncBuiltinESMExports();
  };
}
