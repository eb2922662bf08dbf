import { type AnySessionEntry, outcomeOf } from "../../core.ts";
import { oneLine } from "./excerpt.ts";
import { fieldsOf, listOf, textOf } from "./fields.ts";

/** Characters of an output that are looked through, from its end, and of each line in it. */
const MOST_CHARACTERS = 100_000;
const LONGEST_LINE = 400;

/** A line that begins with the name of an error, or says that one is fatal. */
const NAMED_ERROR = /^\W*(?:[\w.]*(?:Error|Exception)\b|fatal\b|panic\b|error\b)|: (?:fatal )?error\b/i;

/** Words by which a program says that something went wrong. */
const WRONG =
  /error|exception|fatal|panic|fail|cannot|can't|could not|unable|no such|not found|denied|refused|timed? ?out|unexpected|invalid|missing|expected|abort|killed|\bnot\b/i;

/** The sign of a test that failed. */
const FAILED_TEST = /^(?:[✗✘✖×❌]|not ok\b|FAIL(?:ED)?\b)/;

/** A bare number of what went wrong, which says least. */
const BARE_COUNT = /^\W*(?:\w+:? )?\d+ (?:failing|failed|failures?|errors?)\b[^:]*$/i;

/** Says that nothing went wrong. */
const RIGHT = /\b(?:0|no) (?:errors?|failures?|failed|failing|warnings?)\b/i;

/** The exit code as tools tell it at the end of an output. */
const EXIT_CODE = /\bexit(?:ed)?(?: with)?(?: code| status)?:? (-?\d+)\b/i;

const known = new WeakMap<AnySessionEntry, string>();

/**
 * Returns the line that says most about a failure: its exit code, and the line of the error, which stands behind harmless
 * ones as a rule.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export function failureLine(entry: AnySessionEntry | undefined): string {
  if (entry === undefined || outcomeOf(entry) !== "failed") return "";
  const line = known.get(entry) ?? findLine(entry);
  known.set(entry, line);
  return line;
}

function findLine(entry: AnySessionEntry): string {
  const { role, exitCode, output, content, errorMessage } = fieldsOf(fieldsOf(entry)["message"]);
  if (role === "assistant") return oneLine(textOf(errorMessage)) || "the model failed";
  const lines = linesOf(role === "bashExecution" ? textOf(output) : textIn(content));
  const told = lines.findLast((line) => EXIT_CODE.test(line));
  const code = typeof exitCode === "number" ? String(exitCode) : EXIT_CODE.exec(told ?? "")?.[1];
  const parts = [
    code === undefined ? "" : `exit code ${code}`,
    decisiveOf(lines.filter((line) => line !== told)),
  ];
  return oneLine(parts.filter(Boolean).join(": ")) || "failed without a word";
}

/**
 * The first line with the name of an error or of a test that failed, else the last that speaks of something wrong, else the
 * very last.
 */
function decisiveOf(lines: readonly string[]): string {
  const wrong = lines.filter((line) => WRONG.test(line) && !RIGHT.test(line));
  return (
    wrong.find((line) => NAMED_ERROR.test(line)) ??
    lines.find((line) => FAILED_TEST.test(line)) ??
    wrong.findLast((line) => !BARE_COUNT.test(line)) ??
    wrong.at(-1) ??
    lines.at(-1) ??
    ""
  );
}

function linesOf(text: string): string[] {
  return text
    .slice(-MOST_CHARACTERS)
    .split("\n")
    .map((line) => line.trim().slice(0, LONGEST_LINE))
    .filter((line) => line !== "" && line !== "(no output)");
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(fieldsOf(part)["text"]))
    .join("\n");
}
