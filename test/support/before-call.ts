import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * Acts once, before the first matching call of the file system, as another process can between two calls.
 *
 * @param isMeant - Returns whether a call matches, by its arguments.
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
