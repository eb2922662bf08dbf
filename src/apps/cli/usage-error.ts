import { toPlainLine } from "../../core/facts/plain-text.ts";
import { getErrorMessage, isSessionError } from "../../core/format/errors.ts";

/** Error for an invalid command line: nothing was done, and the message states the correct usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Lines to write below the message, such as command lines to choose from; safe for a terminal. */
  readonly below: readonly string[];

  constructor(message: string, below: readonly string[] = []) {
    super(message);
    this.below = below;
  }
}

/** Converts errors caused by user input to usage errors: an invalid query or pattern, or a version that does not exist. */
export async function asUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TypeError) && !isSessionError(error, "INVALID_QUERY")) throw error;
    throw new UsageError(error.message);
  }
}

/** Formats an error on one line, followed by one line per session if a name is ambiguous; all lines are safe for a terminal. */
export function formatFailures(error: unknown): [what: string, ...sessions: string[]] {
  if (!isSessionError(error))
    return [`${toPlainLine(getErrorMessage(error))} (unexpected; SESSIONTREE_DEBUG=1 shows where)`];
  if (error.code !== "SESSION_AMBIGUOUS") return [toPlainLine(error.message)];
  const [what = "", ...sessions] = error.message.split("\n").map(toPlainLine);
  return [what, ...sessions.map((line) => `  ${line}`)];
}
