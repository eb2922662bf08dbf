import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { toPlainLine, toPlainText } from "../../../core/facts/plain-text.ts";
import { isSessionError, SessionError } from "../../../core/format/errors.ts";
import { toSafeString } from "../../../core/format/json.ts";
import { type Continuation, continueIn } from "../../../interop/continue/continue-in.ts";
import {
  CONTINUING_AGENTS,
  type ContinuingAgent,
  type ExportIssue,
} from "../../../interop/continue/exported-session.ts";
import { openOverLog } from "../../../session/manager/session-manager.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { argument, choiceOption, flag, rare, textOption } from "../parameters.ts";
import { resolvePath } from "../session-argument.ts";
import { startProgram } from "../start-program.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = argument("<session>", "the session");
const AGENT = choiceOption("--in <agent>", "the program to continue in", CONTINUING_AGENTS);
const LEAF = textOption("--leaf <entry>", "continue at this entry instead of the leaf: its id or label");
const WHOLE = flag("--whole", "export the whole path, including what compactions summarized");
const CWD = textOption("--cwd <folder>", "continue in this folder; default: the session's folder");
const DRY_RUN = flag("--dry-run", "write nothing; print what would be written");
const RUN = flag("--run", "run the program");
const MODEL = rare(textOption("--model <model>", "the model for OpenCode to use: PROVIDER/MODEL"));

/** `sessiontree continue`: writes a session in another program's format to a location where that program finds it. */
export const command: Command = {
  details: `Writes what the model sees at the leaf as a session of the program, with every tool call and its result, and prints the command that continues it there. A compaction remains a compaction if the program supports them.

Thinking is left out, as are other branches and instructions; the output lists it. No file is replaced, and the session does not change. "sessiontree import" adds what is said there.`,
  parameters: [SESSION, AGENT, LEAF, WHOLE, CWD, DRY_RUN, RUN, MODEL],
  examples: [
    ["continue @last --in codex", "write it, and print the command"],
    ["continue @last --in claude-code --run", "continue it immediately"],
    ["continue session.jsonl --in gemini --leaf 1a2b3c4d --dry-run", "see what would be left out"],
  ],
  run: continueSession,
};

async function continueSession(call: CommandCall): Promise<ExitCode> {
  const { get, json } = call;
  const agent = get(AGENT);
  if (agent === undefined) throw new UsageError(`Name the program: --in ${CONTINUING_AGENTS.join("|")}.`);
  const isRun = get(RUN);
  if (isRun && get(DRY_RUN)) throw new UsageError("Give --dry-run or --run, not both.");
  if (isRun && json) throw new UsageError("Give --json or --run, not both.");
  const continuation = await writeContinuation(call, agent);
  if (!json) printContinuation(call, continuation);
  return isRun ? runCommands(call, agent, continuation) : EXIT_CODES.ok;
}

async function writeContinuation(call: CommandCall, agent: ContinuingAgent): Promise<Continuation> {
  const { get, io, json, out } = call;
  const [leaf, cwd, model] = [get(LEAF), get(CWD), get(MODEL)];
  const view = await (await call.findSession(get(SESSION))).read();
  const session = openOverLog(view.log, {});
  if (leaf !== undefined) session.branch(view.findEntry(leaf));
  const continuation = continueAtFolder(agent, session, {
    env: io.env,
    now: io.now(),
    compacted: get(WHOLE) ? "whole" : "context",
    dryRun: get(DRY_RUN),
    ...(cwd !== undefined && { cwd: resolvePath(io.cwd, cwd) }),
    ...(model !== undefined && { model }),
  });
  if (json) {
    const { id: agentSessionId, issues, ...written } = continuation;
    const losses = issues.map(({ code, message, entryId: entry }) => ({ code, message, entry }));
    const [id, leafId] = [session.getSessionId(), session.getLeafId()];
    out.json({ id, leafId, agent, agentSessionId, ...written, issues: losses });
  }
  return continuation;
}

/** Calls `continueIn`, whose error about a missing folder names an option of the library. */
function continueAtFolder(...given: Parameters<typeof continueIn>): Continuation {
  try {
    return continueIn(...given);
  } catch (error) {
    if (!isSessionError(error, "CWD_MISSING")) throw error;
    const { details } = error;
    const message = `The working directory ${toSafeString(details["cwd"])} does not exist; specify another one with --cwd.`;
    throw new SessionError("CWD_MISSING", message, { details, cause: error });
  }
}

function printContinuation(
  { get, io, out }: CommandCall,
  { paths, cwd, commands, issues }: Continuation,
): void {
  out.prose(
    paths.length === 0 ? "pi continues the session itself." : get(DRY_RUN) ? "Would write:" : "Wrote:",
  );
  for (const path of paths) out.path(path);
  out.line();
  out.prose(issues.length === 0 ? "Nothing is left out." : "Left out or changed:");
  for (const [first, count] of countIssues(issues))
    out.prose(`- ${toPlainLine(first.message)}${count === 1 ? "" : ` (${count} times)`}`);
  out.line();
  out.prose("Continue with:");
  const place = cwd === io.cwd ? [] : [["cd", cwd]];
  const words = [...place, ...commands].map((command) => command.map(quoteForShell).join(" "));
  // Not as a plain line, which would reduce multiple spaces in a folder's name to one.
  out.line(toPlainText(words.join(" && ")));
}

/** Returns the first issue with each code, and the number of issues with that code. */
function countIssues(issues: readonly ExportIssue[]): (readonly [first: ExportIssue, count: number])[] {
  const codes = [...new Set(issues.map(({ code }) => code))];
  return codes.flatMap((code) => {
    const all = issues.filter((issue) => issue.code === code);
    const [first] = all;
    return first === undefined ? [] : [[first, all.length] as const];
  });
}

/** Runs the commands until one fails. Removes the temporary folder of a file that OpenCode has imported. */
async function runCommands(
  call: CommandCall,
  agent: ContinuingAgent,
  { commands, cwd, paths: [path] }: Continuation,
): Promise<ExitCode> {
  await call.out.flush();
  for (const command of commands) {
    const code = await startProgram(call, command, cwd);
    if (code !== EXIT_CODES.ok) return code;
    if (agent === "opencode" && path !== undefined) rmSync(dirname(path), { recursive: true, force: true });
  }
  return EXIT_CODES.ok;
}
