import { plainLine } from "../../core/facts/plain-text.ts";
import { isSessionError, messageOf } from "../../core/format/errors.ts";

/** Says what went wrong in a line, and in one more for each session where several fit a name; none can be a command to a terminal. */
export function failureLines(error: unknown): [what: string, ...sessions: string[]] {
  if (!isSessionError(error))
    return [`${plainLine(messageOf(error))} (unexpected; SESSIONTREE_DEBUG=1 shows where)`];
  if (error.code !== "SESSION_AMBIGUOUS") return [plainLine(error.message)];
  const [what = "", ...sessions] = error.message.split("\n").map(plainLine);
  return [what, ...sessions.map((line) => `  ${line}`)];
}
