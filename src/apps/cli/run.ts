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
import { toRunnable } from "./program-name.ts";
import { accessSessions } from "./sessions.ts";
import { parseStoreAddress, STORE_VARIABLE, type StoreAddress, withoutPasswords } from "./store-address.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { loadWidths, truncateLine } from "./text/width.ts";
import { formatFailures, UsageError } from "./usage-error.ts";

/** Number of sessions listed when a user runs the program without a command. */
const BARE_LIMIT = 8;

/**
 * Runs the command line.
 *
 * @param argv - Command-line arguments, without the paths of Node and the program.
 * @returns Exit code. Never throws: writes an error as one line to stderr, followed by one line per session if a name is
 *   ambiguous.
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
      // Unrequested help goes to stderr.
      words.length === 0 ? errors : out,
      words[0] === "help",
    );
    await parser.parseAsync(words, { from: "user" });
    if (isBare) writeNextSteps(out, io, stored !== undefined);
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
  // An agent may interpret any other code as a refusal.
  if (isHook(words)) exitCode = EXIT_CODES.ok;
  // If stderr fails as well, the error cannot be reported.
  await catchError(() => errors.flush());
  return exitCode;
}

/** Returns whether an agent's hook called the command line. */
function isHook([command = "", ...words]: readonly string[]): boolean {
  return ["import", "recall"].includes(command) && words.includes("--hook");
}

/** Loads the command named by the first word of a command line, or by the word after `help`. */
async function loadNamed([first, second]: readonly string[]): Promise<LoadedCommand | undefined> {
  const name = first === "help" ? second : first;
  const listed = COMMANDS.find((one) => one.name === name);
  return listed && { ...listed, command: await listed.load() };
}

/** Words for the parser, and the commands that it accepts. */
interface ParserInput {
  readonly words: readonly string[];
  readonly commands: readonly ListedCommand[];
}

/** Joins two-word names. Converts a request for help on an unknown command into a call of that command, which fails. */
function prepareWords(argv: readonly string[]): ParserInput {
  const isHelp = argv[0] === "help";
  const [name, ...rest] = joinCommandName(isHelp ? argv.slice(1) : argv, COMMANDS);
  if (name === undefined || name.startsWith("-")) return { words: argv, commands: COMMANDS };
  // The first word of a two-word name on its own lists the possible second words.
  const members = COMMANDS.filter((one) => one.name.startsWith(`${name} `));
  if (members.length > 0) return { words: isHelp ? ["--help"] : rest, commands: members };
  const isKnown = COMMANDS.some((one) => one.name === name);
  const given = isKnown ? rest : rest.filter((word) => word !== "--help" && word !== "-h");
  return { words: isHelp && isKnown ? ["help", name] : [name, ...given], commands: COMMANDS };
}

/** Writes suggested next commands below the latest sessions. */
function writeNextSteps(out: Output, io: CliIo, isStored: boolean): void {
  const steps = [
    ["sessiontree show @last", "read the latest session"],
    ...(isStored ? [] : [["sessiontree resume -- AGENT", "choose one, and continue it in a program"]]),
    ["sessiontree --help", "list all commands"],
  ];
  out.line();
  const lines = steps.map(([line = ""]) => toRunnable(line, io));
  const width = Math.max(...lines.map((line) => line.length));
  for (const [i, [, purpose]] of steps.entries())
    out.line(`${lines[i]?.padEnd(width)}  ${out.colors.dim(`# ${purpose}`)}`);
}

/** Returns the error that a call throws, or undefined. */
async function catchError(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Returns whether an error only ends parsing after help or the version was printed. */
function isHelp(error: unknown): error is CommanderError {
  return error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help");
}

/** Returns the database of a call, if the command supports databases; undefined if the call uses files. */
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
  const how = option === undefined ? ` With --dir, ${STORE_VARIABLE} is ignored.` : "";
  throw new UsageError(`${name} works on files. ${command.filesOnly}${how}`);
}

/** Opens the database of a call; loads the code for databases only if there is one. */
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
      writeMessage("warning", { io, errors, json }, [toPlainLine(message), ...below]);
      errors.flush();
    },
    note: (text) => {
      if (json) return;
      // Flushes earlier output first, so that the order is correct if both go to one terminal.
      out.flush();
      errors.prose(toRunnable(text, io));
      errors.flush();
    },
    toRunnable: (text) => toRunnable(text, io),
    dir,
    ...accessSessions({ io, dir, stored }),
  };
}

/** Writes an error or warning to stderr: a sentence, and lines below it. */
function writeMessage(
  kind: "error" | "warning",
  { io, errors, json }: { readonly io: CliIo; readonly errors: Output; readonly json: boolean },
  lines: readonly string[],
  code?: string,
): void {
  const [what = "", ...below] = lines.map((line) => toRunnable(withoutPasswords(line), io));
  if (json) {
    errors.json({ [kind]: { ...(code !== undefined && { code }), message: [what, ...below].join("\n") } });
    return;
  }
  errors.prose(`sessiontree: ${what}`);
  for (const line of below) errors.line(truncateLine(line, errors.width));
}

/** Writes an error, as JSON if requested, and returns its exit code. */
function explainFailure(error: unknown, words: readonly string[], io: CliIo, errors: Output): ExitCode {
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  const below = error instanceof UsageError ? error.below : [];
  const lines = isUsage ? [formatUsageMessage(error, words), ...below] : formatFailures(error);
  const code = isUsage ? "USAGE" : isSessionError(error) ? error.code : "UNEXPECTED";
  writeMessage("error", { io, errors, json: isJsonRequested(words) }, lines, code);
  if (io.env["SESSIONTREE_DEBUG"]) errors.line(withoutPasswords(inspect(error)));
  return isUsage ? EXIT_CODES.usage : EXIT_CODES.failed;
}

/** Returns whether JSON is requested, even on an invalid command line. */
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
