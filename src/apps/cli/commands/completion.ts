import type { Command, ListedCommand } from "../command.ts";
import { SHELLS } from "../completion/candidates.ts";
import { findCandidates, formatLineFor } from "../completion/find-candidates.ts";
import { SCRIPTS, type Shell } from "../completion/scripts.ts";
import { foreignWords, type Parameter } from "../parameters.ts";
import { UsageError } from "../usage-error.ts";

const SHELL: Parameter<Shell> = {
  kind: "argument",
  form: "<shell>",
  description: "bash, zsh or fish",
  values: SHELLS,
  parse: (given) => {
    const shell = SHELLS.find((one) => one === given);
    if (shell === undefined) throw new UsageError("<shell> must be bash, zsh or fish.");
    return shell;
  },
};

const WORDS = foreignWords("[words...]", "after --, a command line: prints its possible completions");

/** Creates the `sessiontree completion` command. It prints a completion script for a shell, which calls the command again. */
export function makeCompletionCommand(commands: readonly ListedCommand[]): Command {
  return {
    details: `Completes commands, options, sessions, and the ids and labels of entries. The first line of the script says where to put it. With a command line after --, it prints the possible completions of the last word; the script uses this.`,
    parameters: [SHELL, WORDS],
    examples: [
      ["completion bash", 'for ~/.bashrc: eval "$(sessiontree completion bash)"'],
      ["completion fish", "for config.fish: sessiontree completion fish | source"],
    ],
    run: async (call) => {
      const { json, out } = call;
      const shell = call.get(SHELL);
      const words = call.get(WORDS);
      if (words.length === 0) {
        if (json) out.json({ shell, script: SCRIPTS[shell] });
        else out.text(SCRIPTS[shell]);
        return;
      }
      const { io, dir, stored } = call;
      const isDescribed = shell !== "bash" || json;
      const asked = { io, dir, words, commands, isStored: stored !== undefined, isDescribed };
      for (const candidate of await findCandidates(asked)) {
        if (json) out.json(candidate);
        else out.line(formatLineFor(shell, candidate));
      }
    },
  };
}
