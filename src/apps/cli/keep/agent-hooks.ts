import type { JsonRecord } from "../../../core/format/json.ts";
import type { HookEntry } from "./settings-text.ts";

/** `sessiontree` command that an agent runs on one of its events. */
export interface HookRow {
  readonly event: string;
  /** Command line after the program name. */
  readonly command: string;
  /** Time limit, in the unit that the agent uses. */
  readonly timeout: number;
}

/** Format of a hook: grouped with other hooks under a matcher, or separate, with a command for each shell. */
export type HookForm = "group" | "single";

/** Hooks of an agent. */
export interface AgentHooks {
  /** Path below the agent's own folder. */
  readonly file: readonly string[];
  /** `script`: the file itself is the hook; otherwise, it contains hooks in this format. */
  readonly form: HookForm | "script";
  readonly rows: readonly HookRow[];
  /** Setting in the same file that disables hooks, and the value that disables them. */
  readonly offSwitch?: { readonly path: readonly string[]; readonly value: boolean };
  /** Sentence that describes a step that the user must still perform in the agent. */
  readonly afterwards?: string;
}

/** Returns the rows of the hooks that import sessions on events. */
function importOn(timeout: number, ...events: readonly string[]): HookRow[] {
  return events.map((event) => ({ event, command: "import --hook", timeout }));
}

/** Hooks by agent. */
export const AGENT_HOOKS = {
  "claude-code": {
    file: ["settings.json"],
    form: "group",
    rows: importOn(20, "Stop", "PreCompact", "SessionEnd"),
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  codex: {
    file: ["hooks.json"],
    form: "group",
    rows: [...importOn(20, "Stop", "SubagentStop"), ...importOn(3, "SessionEnd")],
    afterwards: "Codex asks at its next start whether to trust the hooks; until then it does not run them.",
  },
  gemini: {
    file: ["settings.json"],
    form: "group",
    rows: importOn(20_000, "AfterAgent", "SessionEnd"),
    offSwitch: { path: ["hooksConfig", "enabled"], value: false },
  },
  qwen: {
    file: ["settings.json"],
    form: "group",
    rows: importOn(20_000, "Stop", "SessionEnd"),
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  copilot: {
    file: ["settings.json"],
    form: "single",
    rows: importOn(20, "agentStop", "sessionEnd"),
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  cline: {
    file: ["hooks", "TaskComplete"],
    form: "script",
    rows: importOn(0, "TaskComplete"),
  },
} as const satisfies { readonly [agent: string]: AgentHooks };

/** Returns the elements to add to an agent's settings for its hooks. */
export function makeHookEntries({ form, rows }: AgentHooks, program: HookProgram): HookEntry[] {
  return rows.map(({ event, command, timeout }) => {
    const line = makeHookLine(command, program);
    const value: JsonRecord =
      form === "single"
        ? { type: "command", bash: line, powershell: toPowerShell(line), timeoutSec: timeout }
        : { hooks: [{ type: "command", command: line, timeout }] };
    return { event, value };
  });
}

/** Returns the hook script of an agent. */
export function makeHookScript({ rows }: AgentHooks, program: HookProgram): string {
  return ["#!/bin/sh", ...rows.map(({ command }) => makeHookLine(command, program)), ""].join("\n");
}

/** Command line that hooks use to call this program. */
export interface HookProgram {
  /** Beginning of the command line. */
  readonly start: string;
  /** End of the command line; empty if there is nothing to add. */
  readonly end: string;
}

function makeHookLine(command: string, { start, end }: HookProgram): string {
  return [start, command, end].filter((part) => part !== "").join(" ");
}

/** Converts a command line to PowerShell, where a quoted word at the beginning is a string unless it is called with `&`. */
function toPowerShell(line: string): string {
  return /^["']/.test(line) ? `& ${line}` : line;
}

/** Returns whether a stored value contains one of these commands, regardless of the program's name or path. */
export function isHookOfOurs(value: unknown, rows: readonly HookRow[]): boolean {
  if (typeof value === "string") return rows.some(({ command }) => value.includes(command));
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((one) => isHookOfOurs(one, rows));
}
