import type { JsonRecord } from "../../../core/format/json.ts";
import type { HookEntry } from "./settings-text.ts";

/** A command of `sessiontree` that an agent runs at one of its events. */
export interface HookRow {
  readonly event: string;
  /** Command line after the name of the program. */
  readonly command: string;
  /** In the unit of the agent. */
  readonly timeout: number;
}

/** How an agent writes a hook: in a group with the hooks of one matcher, or alone with a command for each shell. */
export type HookForm = "group" | "single";

/** Where the hooks of an agent are. */
export interface AgentHooks {
  /** Path below the agent's own folder. */
  readonly file: readonly string[];
  /** `script`: the file is the hook; else it has hooks in it, of this form. */
  readonly form: HookForm | "script";
  readonly rows: readonly HookRow[];
  /** Setting in the same file that turns hooks off, and the value with which it does. */
  readonly offSwitch?: { readonly path: readonly string[]; readonly value: boolean };
  /** What is left to do in the agent, as a sentence. */
  readonly afterwards?: string;
}

const IMPORT = "import --hook";

/** Hooks by agent. Another command gets a row for each event at which it runs. */
export const AGENT_HOOKS = {
  "claude-code": {
    file: ["settings.json"],
    form: "group",
    rows: [
      { event: "Stop", command: IMPORT, timeout: 20 },
      { event: "PreCompact", command: IMPORT, timeout: 20 },
      { event: "SessionEnd", command: IMPORT, timeout: 20 },
    ],
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  codex: {
    file: ["hooks.json"],
    form: "group",
    rows: [
      { event: "Stop", command: IMPORT, timeout: 20 },
      { event: "SubagentStop", command: IMPORT, timeout: 20 },
      { event: "SessionEnd", command: IMPORT, timeout: 3 },
    ],
    afterwards: "Codex asks at its next start whether to trust the hooks; until then it does not run them.",
  },
  gemini: {
    file: ["settings.json"],
    form: "group",
    rows: [
      { event: "AfterAgent", command: IMPORT, timeout: 20_000 },
      { event: "SessionEnd", command: IMPORT, timeout: 20_000 },
    ],
    offSwitch: { path: ["hooksConfig", "enabled"], value: false },
  },
  qwen: {
    file: ["settings.json"],
    form: "group",
    rows: [
      { event: "Stop", command: IMPORT, timeout: 20_000 },
      { event: "SessionEnd", command: IMPORT, timeout: 20_000 },
    ],
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  copilot: {
    file: ["settings.json"],
    form: "single",
    rows: [
      { event: "agentStop", command: IMPORT, timeout: 20 },
      { event: "sessionEnd", command: IMPORT, timeout: 20 },
    ],
    offSwitch: { path: ["disableAllHooks"], value: true },
  },
  cline: {
    file: ["hooks", "TaskComplete"],
    form: "script",
    rows: [{ event: "TaskComplete", command: IMPORT, timeout: 0 }],
  },
} as const satisfies { readonly [agent: string]: AgentHooks };

/** Returns the elements of the agent's settings that run its hooks. */
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

/** Returns the script that is the hook of an agent. */
export function makeHookScript({ rows }: AgentHooks, program: HookProgram): string {
  return ["#!/bin/sh", ...rows.map(({ command }) => makeHookLine(command, program)), ""].join("\n");
}

/** How hooks call this program. */
export interface HookProgram {
  /** Beginning of the command line. */
  readonly start: string;
  /** End of the command line; empty if there is nothing to add. */
  readonly end: string;
}

function makeHookLine(command: string, { start, end }: HookProgram): string {
  return [start, command, end].filter((part) => part !== "").join(" ");
}

/** A quoted word at the beginning is a string there, unless it is called. */
function toPowerShell(line: string): string {
  return /^["']/.test(line) ? `& ${line}` : line;
}

/** Returns whether a stored value has one of these commands in it, however the program is called. */
export function isHookOfOurs(value: unknown, rows: readonly HookRow[]): boolean {
  if (typeof value === "string") return rows.some(({ command }) => value.includes(command));
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((one) => isHookOfOurs(one, rows));
}
