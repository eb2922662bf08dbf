import type { CommandCall } from "./command.ts";
import { flag } from "./parameters.ts";
import { UsageError } from "./usage-error.ts";

/** Option to skip confirmation. */
export const YES = flag("--yes", "do not ask");

/**
 * Requests confirmation at the terminal; the question must end with a question mark. With `--yes`, returns true without asking.
 */
export async function confirmQuestion({ get, io }: CommandCall, question: string): Promise<boolean> {
  if (get(YES)) return true;
  if (io.ask === undefined) {
    throw new UsageError("Cannot ask for confirmation without a terminal; add --yes to confirm.");
  }
  return /^\s*y(?:es)?\s*$/i.test(await io.ask(`${question} [y/N] `));
}

/** Requests confirmation of a change as `confirmQuestion` does. If the user declines, reports that nothing happened. */
export async function confirmChange(
  call: CommandCall,
  question: string,
  declined = "Nothing was changed.",
): Promise<boolean> {
  const isConfirmed = await confirmQuestion(call, question);
  if (!isConfirmed) call.warn(declined);
  return isConfirmed;
}
