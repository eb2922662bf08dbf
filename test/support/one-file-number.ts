import fs, { type BigIntStats, type Stats } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

const CALLS = ["statSync", "lstatSync", "fstatSync"] as const;

/** Reports one inode number for all files until the test has finished: systems reuse a removed file's number for the next one. */
export function useOneFileNumber(): void {
  const whole = CALLS.map((name) => [name, fs[name]] as const);
  for (const [name, call] of whole) {
    const numbered = (...args: unknown[]): Stats | BigIntStats | undefined => {
      const stats: Stats | BigIntStats | undefined = Reflect.apply(call, fs, args);
      return stats && Object.assign(stats, { ino: typeof stats.ino === "bigint" ? 7n : 7 });
    };
    Object.assign(fs, { [name]: numbered });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, Object.fromEntries(whole));
    syncBuiltinESMExports();
  });
}
