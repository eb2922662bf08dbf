import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { isDatabaseName } from "./source-file.ts";
import type { Environment } from "./source-program.ts";

/** Files of OpenClaw: its sessions have the same format as ours, and need no import. */
export interface OpenClawFiles {
  /** Folders of sessions, one for each agent. */
  readonly folders: readonly string[];
  /** Sessions in them. */
  readonly sessions: readonly string[];
  /** Sessions that were deleted or reset there. */
  readonly archives: readonly string[];
  /** Databases of newer versions, which are not read. */
  readonly databases: readonly string[];
}

const ARCHIVE = /\.jsonl\.(?:deleted|reset)\./;

const SESSION = /^(?!.*\.checkpoint\.[^.]+\.jsonl$).*\.jsonl$/;

/**
 * Finds the sessions of OpenClaw, without opening them.
 *
 * @param env - Reads `HOME` and `OPENCLAW_STATE_DIR`; the default is the folders of OpenClaw and its predecessors.
 */
export function findOpenClaw(env: Environment = process.env): OpenClawFiles {
  const named = env["OPENCLAW_STATE_DIR"];
  const home = env["HOME"] || homedir();
  const roots = named
    ? [toAbsolutePath(named)]
    : [".openclaw", ".clawdbot", ".moltbot"].map((name) => join(home, name));
  const agents = roots.map((root) => join(root, "agents")).flatMap(listPaths);
  const folders = agents.map((agent) => join(agent, "sessions"));
  const files = folders.flatMap(listPaths);
  return {
    folders,
    sessions: files.filter((path) => SESSION.test(path)),
    archives: files.filter((path) => ARCHIVE.test(path)),
    databases: [...agents.flatMap(listPaths), ...files].filter(isDatabaseName),
  };
}

/** Returns the paths in a folder; empty if it is missing, or the system refuses access. */
function listPaths(folder: string): string[] {
  const names = callUnlessRefused(() => readdirSync(folder)) ?? [];
  return names.sort().map((name) => join(folder, name));
}
