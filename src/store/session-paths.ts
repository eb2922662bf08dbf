import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { assertValidSessionId } from "../ids.ts";
import { type OptionRules, TEXT } from "../schema/options.ts";
import { ifPresent, makeFolder, realFileSystem } from "./file-system.ts";

/** Where sessions live, for programs that keep them elsewhere than pi does. */
export interface SessionPlaces {
  /** Folder above `sessions/`. Default: the variable named by `agentDirVariable`, else `~/.pi/agent`. */
  readonly agentDir?: string;
  /** Name of the environment variable for the agent's folder. Default `PI_CODING_AGENT_DIR`. */
  readonly agentDirVariable?: string;
  /**
   * Name of the environment variable that replaces the sessions root. Default `PI_SESSIONS_DIR`, the
   * Rust port's, which pi does not read.
   */
  readonly sessionsDirVariable?: string;
}

/** What these options may be. */
export const PLACES_RULES: OptionRules<SessionPlaces> = {
  agentDir: TEXT,
  agentDirVariable: TEXT,
  sessionsDirVariable: TEXT,
};

/** Makes a path absolute: `~` is the home folder, `file://` URLs are paths, relative ones start at the process's folder. */
export function absolutePath(path: string): string {
  if (path.startsWith("file://")) return fileURLToPath(path);
  if (path === "~") return homedir();
  return resolve(path.startsWith("~/") || path.startsWith("~\\") ? join(homedir(), path.slice(2)) : path);
}

/** Gives the folder that holds a folder for each project. */
export function sessionsRoot(places: SessionPlaces = {}): string {
  if (places.agentDir !== undefined) return join(absolutePath(places.agentDir), "sessions");
  const sessionsDir = process.env[places.sessionsDirVariable ?? "PI_SESSIONS_DIR"];
  if (sessionsDir) return absolutePath(sessionsDir);
  const agentDir = process.env[places.agentDirVariable ?? "PI_CODING_AGENT_DIR"];
  return join(absolutePath(agentDir || "~/.pi/agent"), "sessions");
}

/**
 * Names the folder of a project's sessions; makes nothing.
 *
 * Different projects can share a folder, because the encoding loses which separators there were.
 */
export function projectFolder(cwd: string, places: SessionPlaces = {}): string {
  const encoded = absolutePath(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-");
  return join(sessionsRoot(places), `--${encoded}--`);
}

/**
 * Gives the folder in which a project's sessions are kept by default, and makes it.
 *
 * @param cwd - The project's working directory.
 * @param agentDir - Default: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`.
 */
export function getDefaultSessionDir(cwd: string, agentDir?: string): string {
  const folder = projectFolder(cwd, agentDir === undefined ? {} : { agentDir });
  makeFolder(realFileSystem, folder);
  return folder;
}

/**
 * Names the file of a new session.
 *
 * @param timestamp - ISO 8601, as in the header.
 * @throws {SessionError} `INVALID_SESSION_ID` before a path is made of the id.
 */
export function sessionFileName(timestamp: string, id: string): string {
  assertValidSessionId(id);
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/**
 * Gives the text by which a project is known: its real path, or its resolved one if it is missing. A drive letter's case
 * and `\\?\` do not tell folders apart.
 */
export function projectKey(cwd: string): string {
  const path = absolutePath(cwd.replace(/^\\\\\?\\/, ""));
  const real = ifPresent(() => realpathSync(path)) ?? path;
  return real.replace(/^[a-z]:/, (drive) => drive.toUpperCase());
}
