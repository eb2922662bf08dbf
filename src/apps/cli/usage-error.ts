import { toPlainLine } from "../../core/facts/plain-text.ts";
import { getErrorMessage, isSessionError } from "../../core/format/errors.ts";

/** The command line itself is wrong: nothing was done, and the message says how it is right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Takes what a person's text makes impossible for wrong usage: a wrong query or pattern, or a version that there is not. */
export async function asUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TypeError) && !isSessionError(error, "INVALID_QUERY")) throw error;
    throw new UsageError(error.message);
  }
}

/** Says what went wrong in a line, and in one more for each session where several fit a name; none can be a command to a terminal. */
export function formatFailures(error: unknown): [what: string, ...sessions: string[]] {
  if (!isSessionError(error))
    return [`${toPlainLine(getErrorMessage(error))} (unexpected; SESSIONTREE_DEBUG=1 shows where)`];
  if (error.code !== "SESSION_AMBIGUOUS") return [toPlainLine(error.message)];
  const [what = "", ...sessions] = error.message.split("\n").map(toPlainLine);
  return [what, ...sessions.map((line) => `  ${line}`)];
}
