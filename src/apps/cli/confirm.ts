import type { CommandCall } from "./command.ts";
import { flag } from "./parameters.ts";
import { UsageError } from "./usage-error.ts";

/** Says that nobody needs to be asked. */
export const YES = flag("--yes", "do not ask");

/** Asks the person at the terminal a text that ends with a question mark; with `--yes` the answer is yes. */
export async function confirmQuestion({ get, io }: CommandCall, question: string): Promise<boolean> {
  if (get(YES)) return true;
  if (io.ask === undefined) {
    throw new UsageError("Cannot ask for confirmation without a terminal; add --yes to confirm.");
  }
  return /^\s*y(?:es)?\s*$/i.test(await io.ask(`${question} [y/N] `));
}
