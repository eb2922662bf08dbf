import { isSessionError } from "../../core/format/errors.ts";

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
