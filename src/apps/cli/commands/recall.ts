import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getErrorMessage } from "../../../core/format/errors.ts";
import type { HookCall } from "../../recall/hook/hook-call.ts";
import type { Command, CommandCall } from "../command.ts";
import { readHookInput } from "../hook-input.ts";
import type { CliIo } from "../io.ts";
import { flag, rare } from "../parameters.ts";
import { getSecrets, getSource, PROJECT, SECRETS } from "../recall-options.ts";
import { resolvePath } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";

/** Maximum size of the input, in bytes: agents include a command's output or the content of a file that they write. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/** Environment variables that agents use to pass the project folder. The working directory may be a subfolder of it. */
const PROJECT_VARIABLES = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR"];

const HOOK = flag("--hook", "answer the event that an agent writes to stdin when it calls a hook");
const VERBOSE = rare(flag("--verbose", "write to stderr why there is no answer"));

/** `sessiontree recall`: provides an agent with past sessions. */
export const command: Command = {
  details: `With --hook: at the start of a session, how this project's last session ended; after a command that failed, what worked the last time it failed; before an edit, which sessions touched the file. An answer has at most 1,500 bytes. If there is nothing to say, or it takes too long, nothing is written, and the exit code is 0 in any case.

Claude Code, Codex, Gemini CLI and Qwen Code call it once it is in their settings. docs/recall.md lists the settings to paste.`,
  parameters: [HOOK, PROJECT, SECRETS, VERBOSE],
  examples: [
    ["recall --hook", "in the settings of an agent"],
    ["recall --hook --verbose < event.json", "why an event gets no answer"],
    ["recall --hook --secrets secrets.txt", "omit text that patterns match"],
  ],
  run: async (call) => {
    if (!call.get(HOOK))
      throw new UsageError(
        'recall is called by agents: use "sessiontree recall --hook", or "sessiontree search" to search yourself.',
      );
    const explain = (reason: string) => {
      if (call.get(VERBOSE)) call.note(reason);
    };
    try {
      await answerHook(call, explain);
    } catch (error) {
      explain(toPlainLine(getErrorMessage(error)));
    }
  },
};

async function answerHook(call: CommandCall, explain: (reason: string) => void): Promise<void> {
  const input = await readHookInput(call.io, MAX_INPUT_BYTES);
  const { parseHookCall } = await import("../../recall/hook/hook-call.ts");
  const hookCall = parseHookCall(input);
  if (hookCall === undefined) {
    explain("There is nothing to look up for this event: it is not a start, a failed command, or an edit.");
    return;
  }
  const text = await findAnswer(call, hookCall);
  if (text === "") {
    explain("Past sessions of this project contain nothing about this, or it was not found in time.");
    return;
  }
  const { eventName: hookEventName } = hookCall;
  call.out.json({ hookSpecificOutput: { hookEventName, additionalContext: text } });
}

async function findAnswer(call: CommandCall, hookCall: HookCall): Promise<string> {
  const { dir, get, io } = call;
  const [{ Recall }, { CallTime }, { makeHookAnswer }] = await Promise.all([
    import("../../recall/recall.ts"),
    import("../../recall/call-time.ts"),
    import("../../recall/hook/hook-answer.ts"),
  ]);
  const cwd = hookCall.cwd ?? io.cwd;
  const project = get(PROJECT) ?? findProject(io) ?? cwd;
  const settings = {
    source: await getSource(call),
    cwd: resolvePath(io.cwd, cwd),
    project: dir === undefined ? resolvePath(io.cwd, project) : undefined,
    env: io.env,
    hide: await getSecrets(call),
    now: io.now,
    prices: undefined,
  };
  return makeHookAnswer(new Recall(settings, { time: new CallTime(io.deadline, io.deadline) }), hookCall);
}

function findProject({ env }: CliIo): string | undefined {
  return PROJECT_VARIABLES.map((name) => env[name]).find((folder) => folder !== undefined && folder !== "");
}
