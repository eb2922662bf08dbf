import type { ExitCode } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import type { Output } from "./output.ts";
import { flag, type Parameter, textOption } from "./parameters.ts";
import type { SessionAccess } from "./sessions.ts";

/** One call of a command: what it was told, and where it writes to. */
export interface CommandCall extends SessionAccess {
  readonly io: CliIo;
  readonly out: Output;
  /** Whether the output is for programs: one JSON value per line. */
  readonly json: boolean;
  /** Folder in which sessions are looked for; undefined for where they usually are. */
  readonly dir: string | undefined;
  /** Returns the value of a parameter that the command declares; a `UsageError` says if it makes no sense. */
  get<T>(parameter: Parameter<T>): T;
  /** Tells something on stderr that is no result and no failure: a sentence, and lines below it, which must be harmless already. */
  warn(message: string, ...below: readonly string[]): void;
  /** Writes a line on stderr that explains the result, for a person; with `json` nothing is written. */
  note(text: string): void;
}

/** A command as help and completion list it, before it is loaded. */
export interface ListedCommand {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Of the group under which the help lists it. */
  readonly heading: string;
  /** Whether only `help COMMAND` describes it. */
  readonly isRare: boolean;
  readonly load: () => Promise<Command>;
}

/**
 * A command of `sessiontree`: one of these per file in commands/, and all that is known of it beside its name.
 *
 * Parsing, help, completion and documentation are made from it. `--json`, `--dir` and `--store` are understood by every
 * command and are not listed.
 */
export interface Command {
  /** What else there is to know, in paragraphs with an empty line between them; other line breaks are spaces. */
  readonly details?: string;
  /** For a command that works on files alone: what to do about sessions in a database, as a sentence. */
  readonly filesOnly?: string;
  /** In the order in which they are given. */
  readonly parameters: readonly Parameter<unknown>[];
  /** Command lines without the name of the program, and what each does; at least one. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** Runs the command, which has succeeded if it returns no exit code. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands end without a return
  run(call: CommandCall): Promise<ExitCode | void>;
}

/** The command that a command line names, loaded. */
export interface LoadedCommand extends ListedCommand {
  readonly command: Command;
}

/** Joins the words of a command of two words, such as `db copy`, at the beginning of a command line. */
export function joinCommandName(words: readonly string[], commands: readonly ListedCommand[]): string[] {
  const name = words.slice(0, 2).join(" ");
  return commands.some((one) => one.name === name) ? [name, ...words.slice(2)] : [...words];
}

/** Asks for JSON. */
export const JSON_OUTPUT = flag("--json", "write JSON, one value per line");
/** Says where sessions are kept. */
export const SESSION_DIR = textOption("--dir <folder>", "look for sessions in this folder");
/** Says in which database sessions are kept. */
export const STORE = textOption(
  "--store <url>",
  "look for sessions in this database, PostgreSQL or sqlite:FILE",
);
/** Asks for what a terminal would show. */
export const PRETTY = flag("--pretty", "format the output for reading, even in a pipe");
/** The parameters that every command has. */
export const COMMON_PARAMETERS: readonly Parameter<unknown>[] = [JSON_OUTPUT, SESSION_DIR, STORE];
