import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Returns the path of the user's cache folder, by the system's conventions. Creates nothing.
 *
 * `XDG_CACHE_HOME` counts everywhere; else `~/.cache`, on macOS `~/Library/Caches`, on Windows `%LOCALAPPDATA%`.
 */
export function defaultCacheFolder(
  env: { readonly [name: string]: string | undefined } = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = env;
  // The specification says to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "sessiontree");
  if (platform === "darwin") return join(home, "Library", "Caches", "sessiontree");
  if (platform === "win32") return join(local || join(home, "AppData", "Local"), "sessiontree", "Cache");
  return join(home, ".cache", "sessiontree");
}
