import { Argument, Command as CommanderCommand, Option } from "commander";
import { packageVersion } from "../fs/package-version.ts";
import { COMMON_PARAMETERS, type ListedCommand, type LoadedCommand } from "./command.ts";
import { shortHelp, wholeHelp } from "./help.ts";
import type { Output } from "./output.ts";
import type { Parameter } from "./parameters.ts";
import { wrap } from "./text/width.ts";

/** What was found on the command line for each parameter that was given. */
export type GivenValues = ReadonlyMap<Parameter<unknown>, unknown>;

/** Called when the command line is understood, with what it says. */
export type CommandRunner = (given: GivenValues) => Promise<void>;

const ABOUT = "Session memory for agents: the conversation as an append-only tree in a plain JSONL file.";

const NAMING =
  "Name a session by its path, by its id or the beginning of it, by words of its name or first prompt, as @last (the latest session of this project), or as - (standard input). With --store URL, or SESSIONTREE_STORE, sessions come from a PostgreSQL database.";

const WHERE_IT_WENT_WRONG =
  'To find out where a session went wrong, run "sessiontree search --failed @last". It lists the failures and says how to see what the model saw there and what it cost.';

const EXITS =
  "Exit codes: 0 success; 1 failure, issues found, or nothing found; 2 wrong usage; 130 cancelled.";

/**
 * Makes the parser of the command line.
 *
 * @param commands - Those that it can name: all, for the list in the help and for suggestions, or the one that it names.
 * @param named - The one that it names; the others need not be loaded.
 * @param runCommand - Called when the command line is understood.
 * @param out - Help and version go there.
 * @param isWhole - Whether the help of a command is all that there is to know, and no screen of it.
 */
export function makeParser(
  commands: readonly ListedCommand[],
  named: LoadedCommand | undefined,
  runCommand: CommandRunner,
  out: Output,
  isWhole: boolean,
): CommanderCommand {
  const parser = new CommanderCommand("sessiontree")
    .description(ABOUT)
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.text(text),
      // Complaints come back as errors and are written by whoever catches them.
      outputError: () => undefined,
      writeErr: (text) => out.text(text),
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => out.columns,
      getOutHasColors: () => out.colours.isColorSupported,
      getErrHasColors: () => out.colours.isColorSupported,
    })
    // What a command takes is in its own help; here each has one line.
    .configureHelp({
      styleTitle: (title) => out.colours.bold(title),
      subcommandTerm: (one) => one.name(),
      minWidthToWrap: 20,
    })
    .addHelpText("after", () => {
      const paragraphs = [
        WHERE_IT_WENT_WRONG,
        NAMING,
        EXITS,
        "Help for a command: sessiontree COMMAND --help; all of it: sessiontree help COMMAND",
      ];
      return paragraphs.map((text) => `\n${wrap(text, out.columns).join("\n")}`).join("\n");
    });
  // The search for it takes as long as all else here, and the help of one command says nothing of it.
  if (commands.length > 1) parser.version(packageVersion(), "-V, --version", "print the version");
  for (const { name, summary } of commands) {
    const made = parser.command(name).summary(summary);
    if (name === named?.name) fillIn(made, named, runCommand, { out, isWhole });
  }
  return parser;
}

function fillIn(
  made: CommanderCommand,
  named: LoadedCommand,
  runCommand: CommandRunner,
  { out, isWhole }: { readonly out: Output; readonly isWhole: boolean },
): void {
  const parameters = [...named.command.parameters, ...COMMON_PARAMETERS];
  const found = parameters.map((parameter, place) => addParameter(made, parameter, place));
  made.configureHelp({
    formatHelp: (_, helper) => (isWhole ? wholeHelp : shortHelp)({ named, made, helper, out }),
  });
  made.action(async () => {
    await runCommand(new Map(parameters.map((parameter, i) => [parameter, found[i]?.()])));
  });
}

/** Declares a parameter; gives a function that gives what was found for it. */
function addParameter(
  command: CommanderCommand,
  parameter: Parameter<unknown>,
  place: number,
): () => unknown {
  const { kind, form, description } = parameter;
  if (kind === "argument") {
    command.addArgument(new Argument(form, description));
    return () => command.processedArgs[place];
  }
  const option = new Option(form, description);
  command.addOption(option);
  return () => command.getOptionValue(option.attributeName());
}
