import type { ExitCode } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import type { Output } from "./output.ts";
import { flag, type Parameter, textOption } from "./parameters.ts";
import type { SessionAccess } from "./sessions.ts";

/** Command invocation: its parameters and its output. */
export interface CommandCall extends SessionAccess {
  readonly io: CliIo;
  readonly out: Output;
  /** Whether the output is for programs: one JSON value per line. */
  readonly json: boolean;
  /** Folder to search for sessions; undefined for the default folder. */
  readonly dir: string | undefined;
  /** Returns the value of a parameter that the command declares; throws a `UsageError` if the value is invalid. */
  get<T>(parameter: Parameter<T>): T;
  /** Writes a note or warning to stderr: a sentence, followed by lines that must already be safe to print. */
  warn(message: string, ...below: readonly string[]): void;
  /** Writes a line to stderr that explains the result to the user; with `json`, writes nothing. */
  note(text: string): void;
  /** Returns a text with its command lines as the user can run them, for output other than notes and warnings. */
  toRunnable(text: string): string;
}

/** Command as shown in help and completion, before it is loaded. */
export interface ListedCommand {
  readonly name: string;
  /** One line, without a period. */
  readonly summary: string;
  /** Heading of its group in the help. */
  readonly heading: string;
  /** Whether the help omits the command, so that only `help COMMAND` describes it. */
  readonly isRare: boolean;
  readonly load: () => Promise<Command>;
}

/**
 * `sessiontree` command without its name; each file in commands/ exports one command.
 *
 * Parsing, help, completion, and documentation are generated from it. All commands accept `--json`, `--dir`, and `--store`, so
 * these are not listed.
 */
export interface Command {
  /** Further details, in paragraphs separated by an empty line; other line breaks are treated as spaces. */
  readonly details?: string;
  /** For a command that supports only files: a sentence that explains what to do with sessions in a database. */
  readonly filesOnly?: string;
  /** In command-line order. */
  readonly parameters: readonly Parameter<unknown>[];
  /** Command lines without the program name, each with its purpose; at least one. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** Runs the command; no exit code means success. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands end without a return
  run(call: CommandCall): Promise<ExitCode | void>;
}

/** Loaded command, ready to run. */
export interface LoadedCommand extends ListedCommand {
  readonly command: Command;
}

/** Joins the words of a two-word command, such as `db copy`, at the beginning of a command line. */
export function joinCommandName(words: readonly string[], commands: readonly ListedCommand[]): string[] {
  const name = words.slice(0, 2).join(" ");
  return commands.some((one) => one.name === name) ? [name, ...words.slice(2)] : [...words];
}

/** Option for JSON output. */
export const JSON_OUTPUT = flag("--json", "write JSON, one value per line");
/** Option for the sessions folder. */
export const SESSION_DIR = textOption("--dir <folder>", "look for sessions in this folder");
/** Option for the sessions database. */
export const STORE = textOption(
  "--store <url>",
  "look for sessions in this database, PostgreSQL or sqlite:FILE",
);
/** Option that formats output as it would be on a terminal. */
export const PRETTY = flag("--pretty", "format the output for reading, even in a pipe");
/** Parameters of every command. */
export const COMMON_PARAMETERS: readonly Parameter<unknown>[] = [JSON_OUTPUT, SESSION_DIR, STORE];
