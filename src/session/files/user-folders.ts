import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The environment, system and home folder that decide where a user's folders are. */
type Surroundings = [env?: { readonly [name: string]: string | undefined }, platform?: string, home?: string];

/**
 * Returns the path of the user's data folder, by the system's conventions. Creates nothing.
 *
 * `XDG_DATA_HOME` counts everywhere; else `~/.local/share`, on Windows `%LOCALAPPDATA%`.
 */
export function getDataFolder(...surroundings: Surroundings): string {
  return getUserFolder("XDG_DATA_HOME", "Data", [".local", "share"], undefined, surroundings);
}

/**
 * Returns the path of the user's cache folder, by the system's conventions. Creates nothing.
 *
 * `XDG_CACHE_HOME` counts everywhere; else `~/.cache`, on macOS `~/Library/Caches`, on Windows `%LOCALAPPDATA%`.
 */
export function getCacheFolder(...surroundings: Surroundings): string {
  return getUserFolder("XDG_CACHE_HOME", "Cache", [".cache"], ["Library", "Caches"], surroundings);
}

/** Returns the folder of imported sessions, in which each project has a folder. */
export function getImportedRoot(): string {
  return join(getDataFolder(), "imported");
}

function getUserFolder(
  variable: string,
  onWindows: string,
  atHome: readonly string[],
  onMac: readonly string[] | undefined,
  [env = process.env, platform = process.platform, home = homedir()]: Surroundings,
): string {
  const xdg = env[variable];
  // The specification says to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "sessiontree");
  if (platform === "win32")
    return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "sessiontree", onWindows);
  return join(home, ...((platform === "darwin" && onMac) || atHome), "sessiontree");
}
