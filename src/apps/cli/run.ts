import { inspect } from "node:util";
import { CommanderError } from "commander";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { isSessionError } from "../../core/format/errors.ts";
import {
  type CommandCall,
  JSON_OUTPUT,
  joinCommandName,
  type ListedCommand,
  type LoadedCommand,
  PRETTY,
  SESSION_DIR,
  STORE,
} from "./command.ts";
import { COMMANDS, findReplacement } from "./commands.ts";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";
import type { CallerIo, CliIo } from "./io.ts";
import { Output, OutputClosed } from "./output.ts";
import { type GivenValues, makeParser } from "./parser.ts";
import { accessSessions } from "./sessions.ts";
import { parseStoreAddress, STORE_VARIABLE, type StoreAddress, withoutPasswords } from "./store-address.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { loadWidths, truncateLine } from "./text/width.ts";
import { formatFailures, UsageError } from "./usage-error.ts";

/** Sessions that the program lists when a person calls it without a command. */
const BARE_LIMIT = 8;

/** Columns of the longest command line below them. */
const STEP_WIDTH = 27;

/**
 * Runs the command line.
 *
 * @param argv - Arguments, without those of Node and the program.
 * @returns The exit code; never throws, an error is one line on stderr, and a line for each session if several fit a name.
 */
export async function run(argv: readonly string[], callerIo: CallerIo): Promise<ExitCode> {
  const io: CliIo = { now: Date.now, ...callerIo };
  const out = new Output(io.stdout, io.env);
  const errors = new Output(io.stderr, io.env);
  let exitCode: ExitCode = EXIT_CODES.ok;
  let stored: StoredSessions | undefined;
  const isBare = argv.length === 0 && io.stdout.isTTY === true;
  const { words, commands } = prepareWords(isBare ? ["list", "--limit", String(BARE_LIMIT)] : argv);
  let failure = await catchError(async () => {
    const replacement = findReplacement(words);
    if (replacement !== undefined) throw new UsageError(replacement);
    const named = await loadNamed(words);
    const parser = makeParser(
      named !== undefined && words[0] === named.name ? [named] : commands,
      named,
      async (given) => {
        if (named === undefined) throw new TypeError("a command that runs is loaded");
        stored = await openStored(named, given, io);
        if (PRETTY.parse(given.get(PRETTY))) out.layOut();
        if (io.stdout.isTTY || io.stderr.isTTY || io.terminal !== undefined) await loadWidths();
        exitCode =
          (await named.command.run(makeCall(named, given, { io, stored, out, errors }))) || EXIT_CODES.ok;
      },
      // Help that nobody asked for is a complaint.
      words.length === 0 ? errors : out,
      words[0] === "help",
    );
    await parser.parseAsync(words, { from: "user" });
    if (isBare) writeNextSteps(out, stored !== undefined);
  });
  const closingFailure = await catchError(() => stored?.close(failure !== undefined));
  const outputFailure = await catchError(() => out.flush());
  if (isHelp(failure)) {
    exitCode = failure.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
    failure = undefined;
  }
  failure ??= closingFailure;
  if (failure instanceof OutputClosed || outputFailure instanceof OutputClosed) return EXIT_CODES.ok;
  failure ??= outputFailure;
  if (failure !== undefined) exitCode = explainFailure(failure, words, io, errors);
  // An agent may take any other code for a refusal.
  if (isHook(words)) exitCode = EXIT_CODES.ok;
  // If stderr fails, too, there is nobody left to tell.
  await catchError(() => errors.flush());
  return exitCode;
}

/** Returns whether an agent calls the command line. */
function isHook([command = "", ...words]: readonly string[]): boolean {
  return ["import", "recall"].includes(command) && words.includes("--hook");
}

/** Loads the command that a command line names first, or behind `help`. */
async function loadNamed([first, second]: readonly string[]): Promise<LoadedCommand | undefined> {
  const name = first === "help" ? second : first;
  const listed = COMMANDS.find((one) => one.name === name);
  return listed && { ...listed, command: await listed.load() };
}

/** A command line as the parser takes it, and the commands that it can name. */
interface ParserInput {
  readonly words: readonly string[];
  readonly commands: readonly ListedCommand[];
}

/** Joins names of two words. Help on a command that does not exist is taken for a call of it, which fails. */
function prepareWords(argv: readonly string[]): ParserInput {
  const isHelp = argv[0] === "help";
  const [name, ...rest] = joinCommandName(isHelp ? argv.slice(1) : argv, COMMANDS);
  if (name === undefined || name.startsWith("-")) return { words: argv, commands: COMMANDS };
  // The first word of such names alone lists what may follow.
  const members = COMMANDS.filter((one) => one.name.startsWith(`${name} `));
  if (members.length > 0) return { words: isHelp ? ["--help"] : rest, commands: members };
  const isKnown = COMMANDS.some((one) => one.name === name);
  const given = isKnown ? rest : rest.filter((word) => word !== "--help" && word !== "-h");
  return { words: isHelp && isKnown ? ["help", name] : [name, ...given], commands: COMMANDS };
}

/** Writes, below the latest sessions, how to continue. */
function writeNextSteps(out: Output, isStored: boolean): void {
  const steps = [
    ["sessiontree show @last", "read the latest session"],
    ...(isStored ? [] : [["sessiontree resume -- AGENT", "choose one, and continue it in a program"]]),
    ["sessiontree --help", "list all commands"],
  ];
  out.line();
  for (const [line = "", purpose] of steps)
    out.line(`${line.padEnd(STEP_WIDTH)}  ${out.colors.dim(`# ${purpose}`)}`);
}

/** Returns what a call throws, or undefined. */
async function catchError(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Help and the version end parsing by an error, too. */
function isHelp(error: unknown): error is CommanderError {
  return error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help");
}

/** Returns the database that a call is about, which not every command may be; undefined if it is about files. */
function findAddress(
  { name, command }: LoadedCommand,
  given: GivenValues,
  { env }: CliIo,
): StoreAddress | undefined {
  const option = STORE.parse(given.get(STORE));
  const isFolder = SESSION_DIR.parse(given.get(SESSION_DIR)) !== undefined;
  if (option !== undefined && isFolder) throw new UsageError("Give --store or --dir, not both.");
  const text = option ?? (isFolder ? undefined : env[STORE_VARIABLE]);
  if (!text) return undefined;
  const from = option === undefined ? STORE_VARIABLE : STORE.form;
  if (command.filesOnly === undefined) return parseStoreAddress(text, from);
  const how = option === undefined ? ` With --dir, ${STORE_VARIABLE} does not count.` : "";
  throw new UsageError(`${name} works on files. ${command.filesOnly}${how}`);
}

/** Returns the sessions of the database that a call is about; the code for databases is loaded only then. */
async function openStored(
  named: LoadedCommand,
  given: GivenValues,
  io: CliIo,
): Promise<StoredSessions | undefined> {
  const address = findAddress(named, given, io);
  if (address === undefined) return undefined;
  const stored = await import("./stored-sessions.ts");
  return new stored.StoredSessions(address, io);
}

interface Surroundings {
  readonly io: CliIo;
  readonly stored: StoredSessions | undefined;
  readonly out: Output;
  readonly errors: Output;
}

function makeCall(
  { name }: LoadedCommand,
  given: GivenValues,
  { io, stored, out, errors }: Surroundings,
): CommandCall {
  const dir = SESSION_DIR.parse(given.get(SESSION_DIR));
  const json = JSON_OUTPUT.parse(given.get(JSON_OUTPUT));
  return {
    io,
    out,
    json,
    get: (parameter) => {
      if (!given.has(parameter)) throw new TypeError(`${name} does not declare ${parameter.form}.`);
      return parameter.parse(given.get(parameter));
    },
    warn: (message, ...below) => {
      writeMessage("warning", { errors, json }, [toPlainLine(message), ...below]);
      errors.flush();
    },
    note: (text) => {
      if (json) return;
      // What was printed before stands before it, where both go to one terminal.
      out.flush();
      errors.prose(text);
      errors.flush();
    },
    dir,
    ...accessSessions({ io, dir, stored }),
  };
}

/** Writes what is wrong on stderr: a sentence, and lines below it. */
function writeMessage(
  kind: "error" | "warning",
  { errors, json }: { readonly errors: Output; readonly json: boolean },
  lines: readonly string[],
  code?: string,
): void {
  const [what = "", ...below] = lines.map(withoutPasswords);
  if (json) {
    errors.json({ [kind]: { ...(code !== undefined && { code }), message: [what, ...below].join("\n") } });
    return;
  }
  errors.prose(`sessiontree: ${what}`);
  for (const line of below) errors.line(truncateLine(line, errors.width));
}

/** Says in one line what went wrong, as JSON if the call asks for that, and gives the exit code for it. */
function explainFailure(error: unknown, words: readonly string[], io: CliIo, errors: Output): ExitCode {
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  const [what, ...sessions] = isUsage ? [formatUsageMessage(error, words)] : formatFailures(error);
  const code = isUsage ? "USAGE" : isSessionError(error) ? error.code : "UNEXPECTED";
  writeMessage("error", { errors, json: isJsonRequested(words) }, [what, ...sessions], code);
  if (io.env["SESSIONTREE_DEBUG"]) errors.line(withoutPasswords(inspect(error)));
  return isUsage ? EXIT_CODES.usage : EXIT_CODES.failed;
}

/** Tells whether JSON is asked for, also on a command line that cannot be understood. */
function isJsonRequested(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end === -1 ? words : words.slice(0, end)).includes("--json");
}

function formatUsageMessage(error: Error, words: readonly string[]): string {
  const what = toPlainLine(error.message.replace(/^error: /, ""));
  const command = COMMANDS.find(({ name }) => name === words[0]);
  const help = command === undefined ? "sessiontree --help" : `sessiontree ${command.name} --help`;
  return `${what}${/[.?)]$/.test(what) ? "" : "."} See "${help}".`;
}
