import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Environment, operating system, and home folder, which determine the locations of a user's folders. */
type Surroundings = [env?: { readonly [name: string]: string | undefined }, platform?: string, home?: string];

/**
 * Returns the path of the user's data folder according to the system's conventions, without creating the folder.
 *
 * Uses `XDG_DATA_HOME` if it is set, on any system. Otherwise, uses `%LOCALAPPDATA%` on Windows and `~/.local/share` on other
 * systems.
 */
export function getDataFolder(...surroundings: Surroundings): string {
  return getUserFolder("XDG_DATA_HOME", "Data", [".local", "share"], undefined, surroundings);
}

/**
 * Returns the path of the user's cache folder according to the system's conventions, without creating the folder.
 *
 * Uses `XDG_CACHE_HOME` if it is set, on any system. Otherwise, uses `%LOCALAPPDATA%` on Windows, `~/Library/Caches` on macOS,
 * and `~/.cache` on other systems.
 */
export function getCacheFolder(...surroundings: Surroundings): string {
  return getUserFolder("XDG_CACHE_HOME", "Cache", [".cache"], ["Library", "Caches"], surroundings);
}

/** Returns the folder of imported sessions, which contains one folder per project. */
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
  // The specification requires ignoring relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "sessiontree");
  if (platform === "win32")
    return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "sessiontree", onWindows);
  return join(home, ...((platform === "darwin" && onMac) || atHome), "sessiontree");
}
