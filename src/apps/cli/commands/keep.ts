import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { ImportSessionsOptions } from "../../../interop/history/import-sessions.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirmChange, YES } from "../confirm.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { getImportTarget, noteSkipped, runImport } from "../import-run.ts";
import { AGENT_HOOKS, type AgentHooks, type HookProgram } from "../keep/agent-hooks.ts";
import { type AgentState, getAgentStates, writeAgentState } from "../keep/agent-report.ts";
import { AGENT_IDS, type FoundAgent, findAgents } from "../keep/agents.ts";
import { type HookPlace, installHooks, uninstallHooks } from "../keep/hook-install.ts";
import { findHookProgram } from "../keep/hook-program.ts";
import { type HookRecord, readHookRecords, withHooksReserved } from "../keep/hook-record.ts";
import { SettingsError } from "../keep/settings-error.ts";
import { flag, optionalList, type Parameter } from "../parameters.ts";
import { resolvePath } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";

const AGENTS: Parameter<readonly string[]> = {
  ...optionalList("[agents...]", "only these agents, such as claude-code; default: all that it finds"),
  values: AGENT_IDS,
  parse: (given) => parseAgentNames(given === undefined ? [] : Array.isArray(given) ? given : [given]),
};
const STATUS = flag("--status", "only report the state of each agent");
const OFF = flag("--off", "remove what keep has installed, and nothing else");

/**
 * `sessiontree keep`: imports the sessions of agents on this machine, and sets up each agent to import new ones automatically.
 */
export const command: Command = {
  details: `Finds agents, reports what each deletes and when, and asks once. Then it imports their sessions, and adds hooks to the settings of agents that support them; an agent calls "sessiontree import --hook" after each answer.
Settings keep their layout and comments, a copy of the file stays next to it (.sessiontree-backup), and settings that do not parse are not changed. Hooks that were added or changed by hand are not changed, either.
--off restores a file that has not changed since then; from others, it removes the entries that it added, if they are unchanged. Imported sessions are kept.`,
  filesOnly:
    "To import into a database, add hooks with --store by hand, as docs/import.md describes; sessions are then in both.",
  parameters: [AGENTS, STATUS, OFF, YES],
  examples: [
    ["keep", "list what was found, and ask"],
    ["keep --status", "the state of each agent"],
    ["keep codex --yes", "only Codex, without a question"],
    ["keep --off", "remove the hooks"],
  ],
  run: async (call) => {
    const { get } = call;
    if (get(STATUS) && get(OFF)) throw new UsageError("Give --status or --off, not both.");
    if (get(OFF)) return turnOff(call);
    const skipped: string[] = [];
    const options = {
      env: call.io.env,
      now: call.io.now,
      ...(await getImportTarget(call)),
      onSkipped: noteSkipped(call, skipped),
    };
    const program = getProgram(call);
    const states = await getAgentStates(selectAgents(call), options, program);
    for (const one of states) writeAgentState(call, one);
    call.out.flush();
    if (states.length === 0 && get(AGENTS).length === 0) call.note("No agents were found.");
    if (get(STATUS)) return EXIT_CODES.ok;
    const problems = states.filter(({ problem }) => problem !== undefined);
    for (const { hook, problem } of problems) warnLeft(call, hook?.path ?? "", problem ?? "", "keep");
    const code = await carryOut(call, { states, options, program });
    const isWhole = skipped.length + problems.length === 0 && states.length >= get(AGENTS).length;
    return code === EXIT_CODES.ok && !isWhole ? EXIT_CODES.failed : code;
  },
};

/** Returns the requested agents, or all agents if none were requested; warns about requested agents that were not found. */
function selectAgents({ get, io, warn }: CommandCall): FoundAgent[] {
  const names = get(AGENTS);
  const found = findAgents(io.env);
  const missing = names.filter((name) => !found.some(({ id }) => id === name));
  if (missing.length > 0) warn(`Not found on this machine: ${missing.join(", ")}.`);
  return names.length === 0 ? found : found.filter(({ id }) => names.includes(id));
}

/** Returns agent ids without duplicates; throws a `UsageError` for an unknown agent. */
function parseAgentNames(given: readonly unknown[]): readonly string[] {
  const names = [...new Set(given.map(toSafeString))];
  const wrong = names.find((name) => !AGENT_IDS.includes(name));
  if (wrong === undefined) return names;
  throw new UsageError(
    `keep accepts names of agents: ${AGENT_IDS.join(", ")}; ${JSON.stringify(wrong)} is not one of them.`,
  );
}

function getProgram({ io, dir }: CommandCall): HookProgram {
  return findHookProgram({
    env: io.env,
    execPath: process.execPath,
    script: process.argv[1] ?? "",
    dir: dir === undefined ? undefined : resolvePath(io.cwd, dir),
  });
}

interface Plan {
  readonly states: readonly AgentState[];
  readonly options: ImportSessionsOptions;
  readonly program: HookProgram;
}

/** Requests confirmation, imports new sessions, and installs missing or outdated hooks. */
async function carryOut(call: CommandCall, { states, options, program }: Plan): Promise<ExitCode> {
  const changed = states.reduce((sum, one) => sum + one.changed, 0);
  const sources = states.flatMap((one) => (one.changed > 0 ? (one.agent.source ?? []) : []));
  const places = states.flatMap(({ hook, state }) =>
    hook !== undefined && (state === "absent" || state === "outdated") ? [hook] : [],
  );
  if (changed === 0 && places.length === 0) {
    if (states.length > 0) call.note("There is nothing to do.");
    return EXIT_CODES.ok;
  }
  if (!(await confirmChange(call, makeQuestion(changed, places)))) return EXIT_CODES.failed;
  if (changed > 0 && !(await runImport(call, { ...options, sources }))) return EXIT_CODES.cancelled;
  let isDone = true;
  for (const place of places) if (!turnOn(call, place, program)) isDone = false;
  return isDone ? EXIT_CODES.ok : EXIT_CODES.failed;
}

function makeQuestion(changed: number, places: readonly HookPlace[]): string {
  const sessions = changed === 0 ? "" : `Import ${formatCounted(changed, "session")}`;
  const [first] = places;
  if (first === undefined) return `${sessions}?`;
  const files = places.length === 1 ? toPlainLine(first.path) : `${places.length} files`;
  return sessions === "" ? `Add hooks to ${files}?` : `${sessions}, and add hooks to ${files}?`;
}

/** Installs an agent's hooks; returns false if its settings were not changed. */
function turnOn(call: CommandCall, place: HookPlace, program: HookProgram): boolean {
  const { json, out } = call;
  const { agent, path, hooks } = place;
  const done = attempt(call, path, "keep", () => withHooksReserved(() => installHooks(place, program)));
  if (done === undefined) return false;
  if (done === "nothing") return true;
  const { backup = null } = done;
  if (json) out.json({ action: "installed", agent, path, backup });
  else {
    const before = backup === null ? "" : `; backup: ${toPlainLine(backup)}`;
    out.prose(`Added hooks to ${toPlainLine(path)}${before}`);
    if (hooks.afterwards !== undefined) out.prose(hooks.afterwards);
  }
  return true;
}

/** Removes the installed hooks. */
async function turnOff(call: CommandCall): Promise<ExitCode> {
  const { get, out } = call;
  const names = get(AGENTS);
  const records = findRecords(call, names);
  if (records === undefined) return EXIT_CODES.failed;
  if (records.length === 0) {
    if (!call.json) out.prose("keep has installed nothing here.");
    return EXIT_CODES.ok;
  }
  const files = records.map(({ path }) => toPlainLine(path));
  if (!call.json) for (const file of files) out.line(file);
  out.flush();
  const which = files.length === 1 ? "this file" : `these ${files.length} files`;
  if (!(await confirmChange(call, `Remove the hooks that keep added to ${which}?`))) return EXIT_CODES.failed;
  let isDone = true;
  for (const record of records) if (!removeOne(call, record)) isDone = false;
  return isDone ? EXIT_CODES.ok : EXIT_CODES.failed;
}

/** Returns the records of installed hooks for some or all agents; warns and returns undefined if they cannot be read. */
function findRecords({ warn }: CommandCall, names: readonly string[]): HookRecord[] | undefined {
  try {
    return readHookRecords().filter(({ agent }) => names.length === 0 || names.includes(agent));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    warn(error.message);
    return undefined;
  }
}

/** Removes installed hooks from a file; returns false if any remain. */
function removeOne(call: CommandCall, record: HookRecord): boolean {
  const { json, out, warn } = call;
  const { agent, path } = record;
  const known: Readonly<Record<string, AgentHooks>> = AGENT_HOOKS;
  const rows = known[agent]?.rows ?? [];
  const removed = attempt(call, path, "keep --off", () =>
    withHooksReserved(() => uninstallHooks(record, rows)),
  );
  if (removed === undefined || removed === "nothing") return false;
  const { outcome, backups } = removed;
  if (json) out.json({ action: outcome, agent, path, backups });
  else if (outcome === "gone") out.prose(`No hooks of keep were left in ${toPlainLine(path)}`);
  else if (outcome === "removed") out.prose(`Removed the hooks from ${toPlainLine(path)}`);
  if (!json) for (const backup of backups) out.prose(`A copy is kept: ${toPlainLine(backup)}`);
  if (outcome !== "left") return true;
  warn(`${path} has hooks that keep did not add, or that were changed by hand; remove those by hand.`);
  return false;
}

/** Edits a file; warns and returns undefined if the file was not changed. */
function attempt<T>(call: CommandCall, path: string, line: string, edit: () => T): T | "nothing" | undefined {
  try {
    return edit() ?? "nothing";
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    warnLeft(call, path, error.message, line);
    return undefined;
  }
}

function warnLeft({ warn }: CommandCall, path: string, problem: string, line: string): void {
  warn(`${path} was not changed: ${problem}. Fix that, and run "sessiontree ${line}" again.`);
}
