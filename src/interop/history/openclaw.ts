import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { isDatabaseName } from "./source-file.ts";
import type { Environment } from "./source-program.ts";

/** Files of OpenClaw. Its sessions have the same format as sessiontree's, so they do not need to be imported. */
export interface OpenClawFiles {
  /** Session folders, one for each agent. */
  readonly folders: readonly string[];
  /** Paths of the sessions in these folders. */
  readonly sessions: readonly string[];
  /** Paths of sessions that were deleted or reset in OpenClaw. */
  readonly archives: readonly string[];
  /** Paths of databases from newer versions, which cannot be read. */
  readonly databases: readonly string[];
}

const ARCHIVE = /\.jsonl\.(?:deleted|reset)\./;

const SESSION = /^(?!.*\.checkpoint\.[^.]+\.jsonl$).*\.jsonl$/;

/**
 * Finds OpenClaw sessions without opening them.
 *
 * @param env - Environment with `HOME` and `OPENCLAW_STATE_DIR`. Default folders: the folders of OpenClaw and its predecessors.
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

/** Returns the paths in a folder; empty if the folder is missing or the system denies access. */
function listPaths(folder: string): string[] {
  const names = callUnlessRefused(() => readdirSync(folder)) ?? [];
  return names.sort().map((name) => join(folder, name));
}
