import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import { toText } from "../context/message-parts.ts";
import { joinNonempty } from "./number-text.ts";
import { COLOR } from "./plain-text.ts";
import { getTellingArgument } from "./tool-calls.ts";

/** Number of characters in an output to search at a time, starting from the end. */
const PIECE = 64 * 1024;

/** Maximum number of characters to search, from the end of an output, for a line that names an error. */
const MAX_SCANNED = 4 * 1024 * 1024;

/** Maximum number of characters to search in a line. */
const MAX_LINE_LENGTH = 1000;

/** Maximum length of the description of a call's purpose. */
const MAX_CALL_LENGTH = 80;

/** Matches lines around an error that do not describe it: exit messages of wrapper programs, stack frames, and drawn trees. */
const WRAPPING =
  /^(?:command (?:exited|failed)|exit(?:ed)?(?: with)?(?: code| status)?:? \d|\(no output\)|npm (?:err!|error)|make(?:\[\d+\])?: \*\*\*|error: could not compile|error: \(none\)$|at .*:\d+\)?$|file ".*", line \d|node\.js v\d|(?:│\s*)*[├└]─)/i;

/** Matches the message of a command that was stopped. */
const STOPPED = /^command (?:aborted|cancelled|killed|timed out)/i;

/** Matches an exit code in the form that tools report at the end of their output. */
const EXIT_CODE = /\bexit(?:ed)?(?: with)?(?: code| status)?:? (-?\d+)\b/i;

/** Matches a mere count of failures, which is the least informative line. */
const BARE_COUNT = /^\W*(?:\w+:? )?\d+ (?:failing|failed|failures?|errors?)\b[^:]*$/i;

/** Matches a count of zero failures. */
const NO_FAILURE = /\b(?:0|no) (?:errors?|fail(?:ed|ures?))\b/i;

/** Matches a line that names and describes an error. */
const NAMES_ERROR =
  /(?:error|exception|fatal|panic(?:ked)?|conflict)\b[^:]{0,60}:\s*\S|\b(?:no such file|not found|permission denied|assert)/i;

const TELLS_FAILURE =
  /error|fail|fatal|panic|exception|cannot|can't|could not|unable|refused|denied|invalid|unexpected|expected|missing|killed|timed out|timeout|\bnot (?:mergeable|permitted|supported|allowed)|[\u2716\u2717\u00d7]/i;

interface Failure {
  /** The tool and the purpose of its call, or the command. Empty for a model's answer. */
  readonly what: string;
  /** Exit code in the form `exit code 1`; empty if unknown. */
  readonly exitCode: string;
  /** The most informative line of the output, or the error message of an answer. May be empty. */
  readonly line: string;
}

/**
 * Describes a failure in one line: the tool or command with its exit code, and the line of the output that names the error. For
 * an answer, returns the error message.
 *
 * @param message - A message that failed, as determined by `outcomeOf`.
 * @param input - Arguments of the tool call, if known.
 * @returns May contain control characters from the output.
 * @remarks Cost: O(output). Searches at most 4 MB.
 */
export function formatFailure(message: unknown, input?: unknown): string {
  const { what, exitCode, line } = getFailure(message, input);
  return joinNonempty(": ", exitCode === "" ? what : `${what} (${exitCode})`, line) || "the model failed";
}

/**
 * Describes a failure in one line, without the call or command: the exit code and the line that names the error.
 *
 * @param message - A message that failed, as determined by `outcomeOf`.
 * @returns May contain control characters from the output.
 * @remarks Cost: O(output). Searches at most 4 MB.
 */
export function failureLine(message: unknown): string {
  const { what, exitCode, line } = getFailure(message);
  const nothing = what === "" ? "the model failed" : "failed without a message";
  return joinNonempty(": ", exitCode, line) || nothing;
}

/**
 * Returns the line of an output that names the error, unchanged except that it is truncated to 1,000 characters. May be empty.
 */
export function getErrorLine(message: unknown): string {
  return getFailure(message).line;
}

/** Returns the last line of an output that names an error or reports a failure; undefined if there is none in the last 64 KB. */
export function findFailureLine(output: string): string | undefined {
  const { named, told } = findErrors(getLastLines(output));
  return named ?? told;
}

function getFailure(message: unknown, input?: unknown): Failure {
  const { role, toolName, command, exitCode, content, output, errorMessage } = toRecord(message);
  if (role !== "toolResult" && role !== "bashExecution") {
    const text = toText(errorMessage);
    return { what: "", exitCode: "", line: findTellingLine(getLastLines(text), text) };
  }
  const isTool = role === "toolResult";
  const text = isTool ? getTexts(content).join("\n") : toText(output);
  const lines = getLastLines(text);
  const told = isTool ? lines.findLast((line) => EXIT_CODE.test(line)) : undefined;
  const code = isTool ? EXIT_CODE.exec(told ?? "")?.[1] : exitCode;
  return {
    what: isTool
      ? joinNonempty(" ", toText(toolName), describePurpose(input), "failed")
      : `$ ${toText(command)}`,
    exitCode: typeof code === "string" || typeof code === "number" ? `exit code ${code}` : "",
    line: findTellingLine(
      lines.filter((line) => line !== told && line !== "(no output)"),
      text,
    ),
  };
}

/** Returns the purpose of a tool call, short enough to precede an error. */
function describePurpose(input: unknown): string {
  const [first = "", ...others] = getTellingArgument(input)
    .trim()
    .split(/[\r\n]+/, 2);
  const isCut = others.length > 0 || first.length > MAX_CALL_LENGTH;
  return isCut ? `${first.slice(0, MAX_CALL_LENGTH - 1)}…` : first;
}

/** Returns the last nonempty lines of a string before an index. Omits a line whose beginning is cut off. */
function getLastLines(text: string, end = text.length): string[] {
  const start = Math.max(0, end - PIECE);
  const cut = start === 0 ? -1 : text.indexOf("\n", start);
  return text
    .slice(cut === -1 || cut - start > MAX_LINE_LENGTH ? start : cut, end)
    .replace(COLOR, "")
    .split(/[\r\n]+/)
    .map((line) => line.trim().slice(0, MAX_LINE_LENGTH))
    .filter(Boolean);
}

/**
 * Returns the most informative line about an error: the last line that names it or, failing that, the last line that reports a
 * failure.
 */
function findTellingLine(lines: readonly string[], text: string): string {
  const own = lines.filter((line) => !WRAPPING.test(line));
  const last = findErrors(lines);
  const stopped = own.findLast((line) => STOPPED.test(line)) ?? last.named;
  if (stopped !== undefined) return stopped;
  const earlier = text.length > PIECE ? findEarlierErrors(text) : undefined;
  return earlier?.named ?? last.told ?? earlier?.told ?? own.at(-1) ?? lines.at(-1) ?? "";
}

/** The last line that names an error, and the last line that reports a failure. */
interface ErrorLines {
  readonly named: string | undefined;
  readonly told: string | undefined;
}

function findErrors(lines: readonly string[]): ErrorLines {
  const bad = lines.filter(
    (line) => !WRAPPING.test(line) && !NO_FAILURE.test(line) && !BARE_COUNT.test(line),
  );
  return {
    named: bad.findLast((line) => NAMES_ERROR.test(line)),
    told: bad.findLast((line) => TELLS_FAILURE.test(line)),
  };
}

/** Searches backward through the text before the last lines until a line names an error. */
function findEarlierErrors(text: string): ErrorLines {
  let told: string | undefined;
  // Pieces overlap, so that a line that is cut off in one piece is complete in the previous one.
  const step = PIECE - MAX_LINE_LENGTH;
  const min = Math.max(MAX_LINE_LENGTH, text.length - MAX_SCANNED);
  for (let end = text.length - step; end > min; end -= step) {
    const found = findErrors(getLastLines(text, end));
    told ??= found.told;
    if (found.named !== undefined) return { named: found.named, told };
  }
  return { named: undefined, told };
}
