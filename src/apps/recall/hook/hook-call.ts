import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { findFailureLine } from "../../../core/facts/failure-text.ts";
import { getTellingArgument } from "../../../core/facts/tool-calls.ts";
import { findCallFiles } from "../../../core/facts/touched-files.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { SHELL } from "../call-purpose.ts";

/** Event in an agent's session for which past sessions may contain help. */
export type HookEvent =
  | { readonly kind: "start" }
  | { readonly kind: "failure"; readonly command: string; readonly output: string }
  | { readonly kind: "edit"; readonly paths: readonly string[] };

/** Call of a hook by any agent. */
export interface HookCall {
  /** Name of the event in the agent's terms, which an answer repeats. */
  readonly eventName: string;
  /** Id of the running session; undefined if the agent does not specify it. */
  readonly sessionId: string | undefined;
  /** Working directory of the agent; undefined if the agent does not specify it. */
  readonly cwd: string | undefined;
  readonly event: HookEvent;
}

/** Start reasons for sessions whose context already contains the earlier content. */
const CONTINUED = new Set(["resume", "compact", "branch", "fork"]);

/** Exit codes as agents write them in a command's output. */
const EXIT_CODE = /^(?:Process exited with |Command )?(?:exited with )?(?:exit )?code:? (-?\d+)/im;

/** Maximum number of files per edit to look up. */
const MAX_FILES = 3;

/**
 * Parses an agent's input to a hook: Claude Code, Codex, Gemini CLI, and Qwen Code use the same fields.
 *
 * @returns Undefined for events that do not require help, such as a successful command.
 */
export function parseHookCall(input: JsonRecord): HookCall | undefined {
  const eventName = toText(input["hook_event_name"]);
  const event = findEvent(eventName, input);
  if (event === undefined) return undefined;
  const [sessionId, cwd] = [toText(input["session_id"]), toText(input["cwd"])];
  return { eventName, sessionId: sessionId || undefined, cwd: cwd || undefined, event };
}

function findEvent(eventName: string, input: JsonRecord): HookEvent | undefined {
  switch (eventName) {
    case "SessionStart":
      return CONTINUED.has(toText(input["source"])) ? undefined : { kind: "start" };
    case "PreToolUse":
      return findEdit(input);
    case "PostToolUseFailure":
      return input["is_interrupt"] === true ? undefined : findFailure(input, toText(input["error"]));
    case "PostToolUse":
    case "AfterTool":
      return findFailure(input, readFailedOutput(input["tool_response"])) ?? findEdit(input);
    default:
      return undefined;
  }
}

function findEdit({ tool_name: name, tool_input: input }: JsonRecord): HookEvent | undefined {
  const files = findCallFiles({ name: toText(name), input }).filter(({ isChanged }) => isChanged);
  const paths = [...new Set(files.map(({ path }) => path))].slice(0, MAX_FILES);
  return paths.length === 0 ? undefined : { kind: "edit", paths };
}

function findFailure(
  { tool_name: name, tool_input: input }: JsonRecord,
  output: string | undefined,
): HookEvent | undefined {
  if (output === undefined || output === "" || !SHELL.test(toText(name))) return undefined;
  return { kind: "failure", command: getTellingArgument(input), output };
}

/**
 * Returns the output of a failed command, recognized by its exit code or, for agents that do not report exit codes, by a line
 * that reports an error.
 */
function readFailedOutput(response: unknown): string | undefined {
  const { error, llmContent } = toRecord(response);
  const output = typeof response === "string" ? response : joinParts(llmContent);
  const reason = toText(toRecord(error)["message"]) || toText(error);
  if (reason !== "") return `${output}\n${reason}`;
  const code = EXIT_CODE.exec(output)?.[1];
  if (code !== undefined) return code === "0" ? undefined : output;
  // Agents that pass an object report an exit code in it, or have another event for failures.
  const isUnknown = typeof response === "string" && findFailureLine(output) !== undefined;
  return isUnknown ? output : undefined;
}

/** Joins the text parts of a result, which is a string or an array of parts. */
function joinParts(content: unknown): string {
  if (typeof content === "string") return content;
  return toArray(content)
    .map((part) => toText(part) || toText(toRecord(part)["text"]))
    .join("\n");
}
