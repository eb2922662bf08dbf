import { isSessionError } from "../schema/errors.ts";

/** The command line itself is wrong: nothing was done, and the message says how it is right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Does something that a caller's text may make impossible: a wrong query or pattern, or a version that there is not.
 *
 * @throws {UsageError} For `INVALID_QUERY` and a `TypeError`.
 */
export async function asUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TypeError) && !isSessionError(error, "INVALID_QUERY")) throw error;
    throw new UsageError(error.message);
  }
}
