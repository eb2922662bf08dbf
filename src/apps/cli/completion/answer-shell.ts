import { COMMANDS } from "../commands.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { SHELLS } from "./candidates.ts";
import { findCandidates, formatLineFor } from "./find-candidates.ts";

/**
 * Answers the request that a completion script sends on each key press, `completion SHELL -- WORDS`. Does not load the
 * command-line parser or other code that is not required, because the user is waiting.
 *
 * @param given - Arguments of `completion`.
 * @returns Exit code; undefined if the arguments are not a completion request.
 */
export async function answerShell(
  [named, dashes, ...words]: readonly string[],
  io: Pick<CliIo, "stdout" | "stderr" | "env" | "cwd">,
): Promise<ExitCode | undefined> {
  const shell = SHELLS.find((one) => one === named);
  if (shell === undefined || dashes !== "--" || words.length === 0) return undefined;
  const found = await findCandidates({
    io: { ...io, now: Date.now },
    dir: undefined,
    words,
    commands: COMMANDS,
    isStored: Boolean(io.env["SESSIONTREE_STORE"]),
    isDescribed: shell !== "bash",
  });
  io.stdout.write(found.map((candidate) => `${formatLineFor(shell, candidate)}\n`).join(""));
  return EXIT_CODES.ok;
}
