import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Names the folder for what can be found again: the user's cache folder, as the system has it. Makes nothing.
 *
 * `XDG_CACHE_HOME` counts everywhere; else `~/.cache`, on macOS `~/Library/Caches`, on Windows `%LOCALAPPDATA%`.
 */
export function defaultCacheFolder(
  env: { readonly [name: string]: string | undefined } = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = env;
  // A relative path in it is to be ignored, says the specification.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "sessiontree");
  if (platform === "darwin") return join(home, "Library", "Caches", "sessiontree");
  if (platform === "win32") return join(local || join(home, "AppData", "Local"), "sessiontree", "Cache");
  return join(home, ".cache", "sessiontree");
}
