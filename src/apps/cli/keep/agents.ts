import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { findOpenClaw } from "../../../interop/history/openclaw.ts";
import type { Environment } from "../../../interop/history/source-program.ts";
import { findProgram } from "../../../interop/history/source-table.ts";
import type { SourceName } from "../../../interop/import/imported-session.ts";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { isThere } from "../../../session/log/replace-file.ts";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import { UsageError } from "../usage-error.ts";
import { AGENT_HOOKS, type AgentHooks } from "./agent-hooks.ts";
import {
  CLAUDE_RETENTION,
  GEMINI_RETENTION,
  KEEPS,
  OPENCLAW_RETENTION,
  type Retention,
  type RetentionRule,
  readRetention,
  UNKNOWN,
} from "./retention.ts";

/** Agent that may be installed on this machine. */
interface KnownAgent {
  readonly id: string;
  readonly label: string;
  /** Program whose sessions are imported; undefined if they can be opened directly. */
  readonly source?: SourceName;
  /** Returns the files and folders that contain its sessions. Default: those of the program. */
  folders?(env: Environment, home: string): string[];
  /** Returns the agent's own folder. Default: the parent of the sessions folder. */
  root?(env: Environment, home: string): string;
  /** Retention, or a function that determines it from the existing files and folders of the agent's sessions. */
  readonly retention: RetentionRule | ((folders: readonly string[]) => RetentionRule);
  readonly hooks?: AgentHooks;
}

/** Folders of editor extensions. */
const EXTENSION = /[/\\]globalStorage[/\\]/;

const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    id: "claude-code",
    label: "Claude Code",
    source: "claude-code",
    retention: CLAUDE_RETENTION,
    hooks: AGENT_HOOKS["claude-code"],
  },
  { id: "codex", label: "Codex", source: "codex", retention: KEEPS, hooks: AGENT_HOOKS.codex },
  {
    id: "gemini",
    label: "Gemini CLI",
    source: "gemini",
    retention: GEMINI_RETENTION,
    hooks: AGENT_HOOKS.gemini,
  },
  { id: "copilot", label: "Copilot CLI", source: "copilot", retention: KEEPS, hooks: AGENT_HOOKS.copilot },
  // The setting cleanupPeriodDays applies to logs and copies of files.
  { id: "qwen", label: "Qwen Code", source: "qwen", retention: KEEPS, hooks: AGENT_HOOKS.qwen },
  { id: "opencode", label: "OpenCode, Kilo", source: "opencode", retention: KEEPS },
  {
    id: "cline",
    label: "Cline, Roo Code, Kilo",
    source: "cline",
    // The command-line program has its hooks here; editor extensions have none.
    root: ({ CLINE_DIR: named }, home) => (named ? toAbsolutePath(named) : join(home, ".cline")),
    retention: (folders) => (folders.some((folder) => EXTENSION.test(folder)) ? UNKNOWN : KEEPS),
    hooks: AGENT_HOOKS.cline,
  },
  { id: "kimi", label: "Kimi Code", source: "kimi", retention: KEEPS },
  {
    id: "openclaw",
    label: "OpenClaw",
    folders: (env) => {
      const { folders, databases } = findOpenClaw(env);
      return [...folders, ...databases];
    },
    root: ({ OPENCLAW_STATE_DIR: named }, home) => (named ? toAbsolutePath(named) : join(home, ".openclaw")),
    retention: OPENCLAW_RETENTION,
  },
  {
    id: "pi",
    label: "pi",
    folders: ({ PI_CODING_AGENT_DIR: named }, home) => [
      join(named ? toAbsolutePath(named) : join(home, ".pi", "agent"), "sessions"),
    ],
    retention: KEEPS,
  },
];

/** Ids of all agents that can be found. */
export const AGENT_IDS: readonly string[] = KNOWN_AGENTS.map(({ id }) => id);

/** Agent installed on this machine. */
export interface FoundAgent {
  readonly id: string;
  readonly label: string;
  /** Program whose sessions are imported; undefined if they can be opened directly. */
  readonly source: SourceName | undefined;
  readonly retention: Retention;
  /** Hooks, and the path of the file that contains them; undefined if the agent has no hooks. */
  readonly hooks: (AgentHooks & { readonly path: string }) | undefined;
}

/** Finds the agents on this machine. */
export function findAgents(env: Environment): FoundAgent[] {
  const home = findHome(env);
  return KNOWN_AGENTS.flatMap((agent) => findAgent(agent, env, home) ?? []);
}

function findAgent(agent: KnownAgent, env: Environment, home: string): FoundAgent | undefined {
  const { id, label, source, hooks } = agent;
  const all = agent.folders?.(env, home) ?? findProgram(source)?.folders(env, home) ?? [];
  const folder = all.find((one) => isThere(one) || isThere(dirname(one)));
  if (folder === undefined) return undefined;
  const root = agent.root?.(env, home) ?? dirname(folder);
  const rule =
    typeof agent.retention === "function"
      ? agent.retention(all.filter((one) => isThere(one)))
      : agent.retention;
  const retention = readRetention(rule, rule.file === undefined ? undefined : join(root, rule.file));
  const isAble = hooks !== undefined && isThere(root) && !isUnable(hooks);
  return {
    id,
    label,
    source,
    retention,
    hooks: isAble ? { ...hooks, path: join(root, ...hooks.file) } : undefined,
  };
}

/** Returns whether hooks are not supported: Windows does not run the scripts of other systems. */
function isUnable({ form }: AgentHooks): boolean {
  return form === "script" && process.platform === "win32";
}

/** Returns the home folder; throws a `UsageError` if it is not set. */
function findHome(env: Environment): string {
  const home = env["HOME"] || callUnlessRefused(homedir);
  if (home !== undefined && isAbsolute(home)) return home;
  throw new UsageError("Cannot find agents without a home folder; set HOME to it.");
}
