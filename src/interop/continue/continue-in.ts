import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { assertSession } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import { assertKnownOptions, FLAG, OBJECT, type OptionRules } from "../../core/format/options.ts";
import { realFileSystem } from "../../session/fs/file-system.ts";
import { assertFree, writeNewFile } from "../../session/log/new-file.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { Environment } from "../history/source-program.ts";
import { assertAgent, EXPORT_RULES, exportFor } from "./export-for.ts";
import type { ContinuingAgent, ExportedSession, ExportForOptions, ExportIssue } from "./exported-session.ts";
import { findGeminiProject } from "./gemini-project.ts";
import { findOpenCodeModel } from "./opencode-model.ts";

/** Options for `continueIn`. */
export interface ContinueInOptions extends ExportForOptions {
  /** Environment variables that determine where programs keep their sessions. Default: those of this process. */
  readonly env?: Environment;
  /** Whether to only report what would be written. Default: false. */
  readonly dryRun?: boolean;
}

const CONTINUE_RULES: OptionRules<ContinueInOptions> = { ...EXPORT_RULES, env: OBJECT, dryRun: FLAG };

/** A session that can continue in another program. */
export interface Continuation extends Pick<ExportedSession, "id" | "commands" | "issues"> {
  /** Absolute paths of the new files. Empty if pi continues the session's own file. */
  readonly paths: readonly string[];
  /** Working directory for the commands, which must run in order. */
  readonly cwd: string;
}

/** Folder of each program. OpenCode can import a file from any folder. */
const FOLDERS: Readonly<Record<ContinuingAgent, (env: Environment, home: string) => string>> = {
  "claude-code": ({ CLAUDE_CONFIG_DIR: named = "" }, home) =>
    named.split(",")[0]?.trim() || join(home, ".claude"),
  codex: ({ CODEX_HOME: named }, home) => named || join(home, ".codex"),
  gemini: ({ GEMINI_CLI_HOME: named }, home) => join(named || home, ".gemini"),
  opencode: () => tmpdir(),
  pi: ({ PI_CODING_AGENT_DIR: named }, home) => named || join(home, ".pi", "agent"),
};

/**
 * Writes a session to another program's folder, so that the program can continue it.
 *
 * Writes only new files, and writes each file completely or not at all. The session does not change. To retrieve the new
 * messages, import the program's sessions.
 *
 * @param agent - Program that continues the session.
 * @param session - Session to continue. It is not changed.
 * @returns The paths of the new files, and the commands that continue the session.
 * @throws {SessionError} `PROGRAM_MISSING` if the program has no folder; `CWD_MISSING` if the working directory does not
 *   exist; `SESSION_EXISTS` if a file is at a path; `NOT_A_SESSION` if the path has no message; `ENTRY_NOT_FOUND`;
 *   `WRITE_FAILED`
 * @throws {TypeError} If the program or an option is unknown.
 * @remarks Cost: O(bytes of the session). Source: docs/continue.md
 */
export function continueIn(
  agent: ContinuingAgent,
  session: ReadonlySessionManager,
  given: ContinueInOptions = {},
): Continuation {
  assertKnownOptions(given, CONTINUE_RULES);
  const { env = process.env, dryRun = false, ...options } = given;
  assertAgent(agent);
  assertSession(session);
  const cwd = toAbsolutePath(options.cwd ?? session.getCwd());
  const folder = findFolder(agent, env);
  if (!existsSync(cwd)) throw makeCwdError(cwd);
  const project = agent === "gemini" ? findGeminiProject(folder, cwd) : undefined;
  const model = agent === "opencode" ? findOpenCodeModel(env, env["HOME"] || homedir()) : undefined;
  const found = { ...(project !== undefined && { project }), ...(model !== undefined && { model }) };
  const exported = exportFor(agent, session, { ...found, ...options, cwd });
  // The folder for temporary files is shared, but other users cannot read a private folder in it.
  const place = agent === "opencode" ? join(folder, `sessiontree-${exported.id}`) : folder;
  const files = exported.files.map(({ path, bytes }) => ({ path: join(place, path), pieces: [bytes] }));
  for (const { path } of files) assertFree(path, realFileSystem);
  if (!dryRun) for (const file of files) writeNewFile(file);
  const paths = files.map(({ path }) => path);
  const commands = exported.commands.map((words) =>
    words.map((word) => (word === "{}" ? (paths[0] ?? word) : word)),
  );
  return {
    id: exported.id,
    paths,
    commands,
    cwd,
    issues: [...exported.issues, ...listFileLosses(session, cwd)],
  };
}

function findFolder(agent: ContinuingAgent, env: Environment): string {
  const path = toAbsolutePath(FOLDERS[agent]?.(env, env["HOME"] || homedir()) ?? "");
  if (agent === "pi" || existsSync(path)) return path;
  const message = `The folder of ${agent}, ${path}, does not exist; run ${agent} once, or set the environment variable for its folder.`;
  throw new SessionError("PROGRAM_MISSING", message, { details: { agent, path } });
}

function makeCwdError(cwd: string): SessionError {
  const message = `The working directory ${cwd} does not exist; specify another one with the option cwd.`;
  return new SessionError("CWD_MISSING", message, { details: { cwd } });
}

function listFileLosses(session: ReadonlySessionManager, cwd: string): ExportIssue[] {
  const before = session.getCwd();
  if (toAbsolutePath(before) === cwd) return [];
  const message = `The session ran in ${before}; files that it refers to may not exist in ${cwd}.`;
  return [{ code: "FILES_NOT_THERE", index: -1, message }];
}
