import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * Acts once, before the first call of the file system that is meant, as another process can between two calls.
 *
 * @param isMeant - Tells by the arguments of a call.
 */
export function beforeCall(
  call: "openSync" | "lstatSync" | "linkSync" | "renameSync" | "unlinkSync",
  isMeant: (...given: unknown[]) => boolean,
  act: () => void,
): void {
  const whole = fs[call];
  const restore = () => {
    Object.assign(fs, { [call]: whole });
    syncBuiltinESMExports();
  };
  Object.assign(fs, {
    [call]: (...given: unknown[]) => {
      if (isMeant(...given)) {
        restore();
        act();
      }
      return Reflect.apply(whole, fs, given);
    },
  });
  syncBuiltinESMExports();
  onTestFinished(restore);
}
