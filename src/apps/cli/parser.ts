import { Argument, Command as CommanderCommand, Option } from "commander";
import { getPackageVersion } from "../../session/fs/package-version.ts";
import { COMMON_PARAMETERS, type ListedCommand, type LoadedCommand } from "./command.ts";
import { formatShortHelp, formatWholeHelp } from "./help.ts";
import type { Output } from "./output.ts";
import type { Parameter } from "./parameters.ts";
import { wrapText } from "./text/width.ts";

/** What was found on the command line for each parameter that was given. */
export type GivenValues = ReadonlyMap<Parameter<unknown>, unknown>;

/** Called when the command line is understood, with what it says. */
export type CommandRunner = (given: GivenValues) => Promise<void>;

const ABOUT = "Session memory for agents: an append-only tree in a plain JSONL file.";

/** What stands behind the list of commands: all of the help fits on a screen of 52 lines. */
const BEHIND = [
  "Where a session went wrong: sessiontree search --failed @last",
  "Name a session by its path, its id or the beginning of it, words of its name or first prompt, as @last (the latest of this project), or as - (standard input).",
  "Exit codes: 0 done, 1 failed or nothing found, 2 wrong usage, 130 cancelled.",
  "Help for a command: sessiontree COMMAND --help; all: sessiontree help COMMAND",
];

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
  const rare = new Set(commands.flatMap(({ name, isRare }) => (isRare ? [name] : [])));
  const parser = new CommanderCommand("sessiontree")
    .description(ABOUT)
    .helpOption("-h, --help", "print help")
    .addHelpCommand(new CommanderCommand("help").argument("[command]"))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.text(text),
      // Complaints come back as errors and are written by whoever catches them.
      outputError: () => undefined,
      writeErr: (text) => out.text(text),
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => out.columns,
      getOutHasColors: () => out.colors.isColorSupported,
      getErrHasColors: () => out.colors.isColorSupported,
    })
    // What a command takes is in its own help; here each has one line.
    .configureHelp({
      styleTitle: (title) => out.colors.bold(title),
      subcommandTerm: (one) => one.name(),
      // Without "help", which the last line names.
      visibleCommands: (parent) => parent.commands.filter((one) => !rare.has(one.name())),
      minWidthToWrap: 20,
    })
    .addHelpText("after", () => `\n${BEHIND.flatMap((text) => wrapText(text, out.columns)).join("\n")}`);
  // The search for it takes as long as all else here, and the help of one command says nothing of it.
  if (commands.length > 1) parser.version(getPackageVersion(), "-V, --version", "print the version");
  for (const { name, summary, heading } of commands) {
    // Added ready-made, since a name may be of two words.
    const made = new CommanderCommand(name).copyInheritedSettings(parser).summary(summary).helpGroup(heading);
    parser.addCommand(made);
    if (name === named?.name) fillCommand(made, named, runCommand, { out, isWhole });
  }
  return parser;
}

function fillCommand(
  made: CommanderCommand,
  named: LoadedCommand,
  runCommand: CommandRunner,
  { out, isWhole }: { readonly out: Output; readonly isWhole: boolean },
): void {
  const parameters = [...named.command.parameters, ...COMMON_PARAMETERS];
  const found = parameters.map((parameter, place) => addParameter(made, parameter, place));
  made.configureHelp({
    formatHelp: (_, helper) => (isWhole ? formatWholeHelp : formatShortHelp)({ named, made, helper, out }),
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
