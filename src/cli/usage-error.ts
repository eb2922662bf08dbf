/** The command line itself is wrong: nothing was done, and the message says how it is right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
