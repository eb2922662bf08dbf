import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { formatAgo } from "../../../core/facts/times.ts";
import {
  cacheFor,
  type ImportSessionsOptions,
  previewImport,
} from "../../../interop/history/import-sessions.ts";
import type { CommandCall } from "../command.ts";
import { writeIndented } from "../view/facts.ts";
import type { HookProgram } from "./agent-hooks.ts";
import type { FoundAgent } from "./agents.ts";
import { areHooksOff, getHookState, type HookPlace, type HookState } from "./hook-install.ts";
import { SettingsError } from "./settings-error.ts";

/** Agent, and the state of its imports and hooks. */
export interface AgentState {
  readonly agent: FoundAgent;
  /** Number of the agent's sessions; 0 if they do not need to be imported. */
  readonly sessions: number;
  /** Number of sessions that are new, or have changed since their import. */
  readonly changed: number;
  /** Time of the last import that wrote data, in Unix milliseconds; undefined if unknown. */
  readonly importedMs: number | undefined;
  /** Undefined if the agent has no hooks. */
  readonly hook: HookPlace | undefined;
  /** Undefined if the agent has no hooks, or their state cannot be determined. */
  readonly state: HookState | undefined;
  /** Reason that the state of the hooks cannot be determined; undefined if it was determined. */
  readonly problem: string | undefined;
}

/** Determines the state of each agent. */
export async function getAgentStates(
  agents: readonly FoundAgent[],
  options: ImportSessionsOptions,
  program: HookProgram,
): Promise<AgentState[]> {
  const isAnyImported = agents.some(({ source }) => source !== undefined);
  const groups = isAnyImported ? await previewImport(options) : [];
  const imports = isAnyImported ? cacheFor(options).allImports() : [];
  return agents.map((agent) => {
    const own = groups.filter(({ source }) => source === agent.source);
    const times = imports
      .filter(([key]) => key.startsWith(`${agent.source} `))
      .flatMap(([, , sessions]) => sessions.flatMap(({ writtenMs }) => writtenMs ?? []));
    const { hooks } = agent;
    const hook = hooks && { agent: agent.id, path: hooks.path, hooks };
    return {
      agent,
      sessions: own.reduce((sum, { sessions }) => sum + sessions, 0),
      changed: own.reduce((sum, { changed }) => sum + changed, 0),
      importedMs: times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b)),
      hook,
      ...findState(hook, program),
    };
  });
}

function findState(hook: HookPlace | undefined, program: HookProgram): Pick<AgentState, "state" | "problem"> {
  if (hook === undefined) return { state: undefined, problem: undefined };
  try {
    return { state: getHookState(hook, program), problem: undefined };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { state: undefined, problem: error.message };
  }
}

/** Writes the state of an agent. */
export function writeAgentState({ json, out, io }: CommandCall, one: AgentState): void {
  const { agent, sessions, changed, importedMs, hook, state, problem } = one;
  if (json) {
    const { text: _, ...retention } = agent.retention;
    out.json({
      action: "found",
      agent: agent.id,
      name: agent.label,
      retention,
      sessions: agent.source === undefined ? null : sessions,
      changed: agent.source === undefined ? null : changed,
      lastImport: importedMs === undefined ? null : new Date(importedMs).toISOString(),
      hook: hook === undefined ? "none" : (state ?? "unknown"),
      path: hook?.path ?? null,
      ...(problem !== undefined && { problem }),
    });
    return;
  }
  out.line(out.colors.bold(agent.label));
  writeIndented(agent.retention.text, out);
  if (agent.source === undefined) {
    writeIndented("needs no import: its sessions can be opened directly", out);
    return;
  }
  const amount = changed === 0 ? "" : `, ${formatCount(changed)} to import`;
  const last = importedMs === undefined ? "none" : formatAgo(importedMs, io.now());
  writeIndented(`${formatCounted(sessions, "session")}${amount}; last import: ${last}`, out);
  writeIndented(describeHook(one), out);
}

function describeHook({ hook, state, problem }: AgentState): string {
  if (hook === undefined) return 'no hooks: "sessiontree import --watch" imports changes as long as it runs';
  const path = toPlainLine(hook.path);
  const off = areHooksOff(hook) ? "; hooks are turned off there" : "";
  if (state === undefined) return `hook: unknown; ${path}: ${problem}`;
  return `hook: ${WORDS[state](path)}${off}`;
}

/** Descriptions of hook states. */
const WORDS: Readonly<Record<HookState, (path: string) => string>> = {
  absent: (path) => `absent from ${path}`,
  installed: (path) => `installed in ${path}`,
  outdated: (path) => `installed in ${path} by an earlier call, to be replaced`,
  changed: (path) => `changed by hand in ${path}, and left alone`,
  "by hand": (path) => `set up by hand in ${path}, and left alone`,
  taken: (path) => `${path} is another hook; add "sessiontree import --hook" to it by hand`,
};
