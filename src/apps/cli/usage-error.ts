import { plainLine } from "../../core/facts/plain-text.ts";
import { isSessionError, messageOf } from "../../core/format/errors.ts";

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
export function failureLines(error: unknown): [what: string, ...sessions: string[]] {
  if (!isSessionError(error))
    return [`${plainLine(messageOf(error))} (unexpected; SESSIONTREE_DEBUG=1 shows where)`];
  if (error.code !== "SESSION_AMBIGUOUS") return [plainLine(error.message)];
  const [what = "", ...sessions] = error.message.split("\n").map(plainLine);
  return [what, ...sessions.map((line) => `  ${line}`)];
}
