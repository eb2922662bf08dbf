import nodeFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { vi } from "vitest";

const LOOKS = ["openSync", "statSync", "lstatSync", "realpathSync", "readdirSync", "existsSync"] as const;

/** Returns the paths that a file system is queried for while something runs as on Windows. */
export async function pathsLookedAtOnWindows(work: () => unknown): Promise<string[]> {
  const platform = Object.getOwnPropertyDescriptor(process, "platform");
  if (platform === undefined) throw new Error("the process has no platform");
  const spies = LOOKS.map((name) => vi.spyOn(nodeFs, name));
  syncBuiltinESMExports();
  Object.defineProperty(process, "platform", { ...platform, value: "win32" });
  try {
    await work();
    return spies.flatMap(({ mock }) => mock.calls.map(([path]) => String(path)));
  } finally {
    Object.defineProperty(process, "platform", platform);
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  }
}

/** Spellings of a file on another machine, each with `elsewhere` in it. */
export const REMOTE_PATHS = [
  "\\\\elsewhere\\share\\parent.jsonl",
  "//elsewhere/share/parent.jsonl",
  "\\\\?\\UNC\\elsewhere\\share\\parent.jsonl",
  "file://elsewhere/share/parent.jsonl",
];
