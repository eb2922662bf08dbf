import { homedir } from "node:os";
import { join } from "node:path";
import { absolutePath } from "../log/session-paths.ts";

/** Environment variables. */
export type Environment = { readonly [name: string]: string | undefined };

/**
 * Returns the folders of other programs' sessions, located as those programs do. They may be missing.
 *
 * @param env - Reads `HOME`, `CLAUDE_CONFIG_DIR` (several, separated by commas) and `CODEX_HOME`.
 */
export function sourceFolders(env: Environment = process.env): string[] {
  const home = env["HOME"] || homedir();
  return [
    ...claudeHomes(env, home).map((folder) => join(folder, "projects")),
    join(codexHome(env, home), "sessions"),
    join(codexHome(env, home), "archived_sessions"),
    join(home, ".gemini", "tmp"),
  ];
}

/** Returns the files in which Claude Code stores the folders of its projects. */
export function claudeStateFiles(env: Environment = process.env): string[] {
  const home = env["HOME"] || homedir();
  return [
    ...claudeHomes(env, home).map((folder) => join(folder, ".claude.json")),
    join(home, ".claude.json"),
  ];
}

function claudeHomes({ CLAUDE_CONFIG_DIR: named }: Environment, home: string): string[] {
  if (!named) return [join(home, ".claude"), join(home, ".config", "claude")];
  const folders = named.split(",").map((folder) => folder.trim());
  return folders.filter((folder) => folder !== "").map(absolutePath);
}

function codexHome({ CODEX_HOME: named }: Environment, home: string): string {
  return named ? absolutePath(named) : join(home, ".codex");
}
