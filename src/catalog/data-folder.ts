import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Returns the path of the user's data folder, by the system's conventions. Creates nothing.
 *
 * `XDG_DATA_HOME` counts everywhere; else `~/.local/share`, on Windows `%LOCALAPPDATA%`.
 */
export function defaultDataFolder(
  env: { readonly [name: string]: string | undefined } = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  // The specification says to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "sessiontree");
  if (platform === "win32") return join(local || join(home, "AppData", "Local"), "sessiontree", "Data");
  return join(home, ".local", "share", "sessiontree");
}

/** Returns the folder of imported sessions, in which each project has a folder. */
export function importedRoot(): string {
  return join(defaultDataFolder(), "imported");
}
