import { Argument, Command as CommanderCommand, Option } from "commander";
import { getPackageVersion } from "../../session/fs/package-version.ts";
import { COMMON_PARAMETERS, type ListedCommand, type LoadedCommand } from "./command.ts";
import { formatShortHelp, formatWholeHelp } from "./help.ts";
import type { Output } from "./output.ts";
import type { Parameter } from "./parameters.ts";
import { wrapText } from "./text/width.ts";

/** Values on the command line by parameter, before the parameters convert them. */
export type GivenValues = ReadonlyMap<Parameter<unknown>, unknown>;

/** Called with the values on the command line after it is parsed. */
export type CommandRunner = (given: GivenValues) => Promise<void>;

const ABOUT = "Session memory for agents: an append-only tree in a plain JSONL file.";

/** Text after the list of commands; the whole help fits on a 52-line screen. */
const BEHIND = [
  "To find failures in a session: sessiontree search --failed @last",
  "Name a session by its path, its id or the beginning of it, words of its name or first prompt, as @last (the latest of this project), or as - (standard input).",
  "Exit codes: 0 done, 1 failed or nothing found, 2 wrong usage, 130 canceled.",
  "Help for a command: sessiontree COMMAND --help; all: sessiontree help COMMAND",
];

/**
 * Creates the parser of the command line.
 *
 * @param commands - Commands that it accepts: all of them, for help and suggestions, or only the command named on the command
 *   line.
 * @param named - Command named on the command line; the others need not be loaded.
 * @param runCommand - Called after the command line is parsed.
 * @param out - Output for help and version.
 * @param isWhole - Whether to print a command's complete help instead of a screenful.
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
      // Errors are thrown, and written by the code that catches them.
      outputError: () => undefined,
      writeErr: (text) => out.text(text),
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => out.columns,
      getOutHasColors: () => out.colors.isColorSupported,
      getErrHasColors: () => out.colors.isColorSupported,
    })
    // A command's parameters are in its own help; here, each command has one line.
    .configureHelp({
      styleTitle: (title) => out.colors.bold(title),
      subcommandTerm: (one) => one.name(),
      // Without "help", because the last line describes it.
      visibleCommands: (parent) => parent.commands.filter((one) => !rare.has(one.name())),
      minWidthToWrap: 20,
    })
    .addHelpText("after", () => `\n${BEHIND.flatMap((text) => wrapText(text, out.columns)).join("\n")}`);
  // Finding the version takes as long as everything else here, and the help of a single command does not show it.
  if (commands.length > 1) parser.version(getPackageVersion(), "-V, --version", "print the version");
  for (const { name, summary, heading } of commands) {
    // Added as an object, because a name may consist of two words.
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

/** Declares a parameter; returns a function that returns its value on the command line. */
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
