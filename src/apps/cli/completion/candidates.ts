import { COMMON_PARAMETERS, joinCommandName, type ListedCommand, SESSION_DIR, STORE } from "../command.ts";
import { LATEST } from "../session-argument.ts";
import { truncateLine } from "../text/width.ts";
import parametersOfAll from "./parameters.json" with { type: "json" };

/** Possible completion of a word. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** Possible completions of a command line: known words, and the kind of names to look up. */
export interface Candidates {
  readonly words: readonly Candidate[];
  /** Sessions, sessions in the trash, entries of a session, or nothing. */
  readonly lookUp?: "sessions" | "trashed" | "entries";
  /** Session whose entries are looked up, as given on the command line. */
  readonly session?: string;
  /** Sessions folder given on the command line. */
  readonly dir?: string;
}

interface KnownParameter {
  readonly form: string;
  readonly description: string;
  /** All possible values, separated by spaces. */
  readonly values?: string;
  readonly isList?: boolean;
}

/**
 * Parameters of every command, by command name: each parameter's form, description, and possible values (if there are only a
 * few).
 *
 * The commands contain the same data, but loading a command also loads all of its code, and the user is waiting. `npm run
 * update:cli-docs` generates the file from the commands, and a test compares the two.
 */
const PARAMETERS: {
  readonly [command: string]: { readonly [form: string]: string | Omit<KnownParameter, "form"> };
} = parametersOfAll;

const DESCRIPTION_LENGTH = 50;

/** Truncates a description to about the length that a shell displays. */
export function shortenToDescription(text: string): string {
  return truncateLine(text, DESCRIPTION_LENGTH);
}

/** Shells with a completion script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

const NOTHING: Candidates = { words: [] };

const HELP: Candidate = { value: "--help", description: "print help" };

const NAMED_SESSION: Candidate = { value: "@last", description: "the latest session of this project" };

/** Completions for a parameter, by the placeholder in its form. */
const BY_PLACEHOLDER: { readonly [placeholder: string]: Candidates } = {
  session: { words: [NAMED_SESSION], lookUp: "sessions" },
  sessions: { words: [NAMED_SESSION], lookUp: "sessions" },
  trashed: { words: [{ value: "@last", description: "the one deleted most recently" }], lookUp: "trashed" },
  entry: { words: [{ value: "@leaf", description: "where the session continues" }], lookUp: "entries" },
  name: { words: [{ value: "@leaf", description: "where the session continues" }], lookUp: "entries" },
  time: {
    words: [
      { value: "1d", description: "a day" },
      { value: "7d", description: "a week" },
      { value: "30d", description: "a month" },
    ],
  },
};

/**
 * Returns the possible completions of a command line.
 *
 * If there are no completions, the shell completes file names.
 *
 * @param words - Words after the program's name; the last one is being typed, and may be empty.
 * @returns Words that begin with the last word; looked-up names must also begin with it.
 */
export function completeLine(words: readonly string[], commands: readonly ListedCommand[]): Candidates {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? "";
  const found = findAllCandidates(before, typed, commands);
  return { ...found, words: found.words.filter(({ value }) => value.startsWith(typed)) };
}

function findAllCandidates(
  before: readonly string[],
  typed: string,
  commands: readonly ListedCommand[],
): Candidates {
  const [name, ...given] = joinCommandName(before, commands);
  const names = findNamesAfter("", commands);
  if (name === undefined) {
    const help = { value: "help", description: "print help for a command" };
    const version = { value: "--version", description: "print the version" };
    return { words: typed.startsWith("-") ? [HELP, version] : [...names, help] };
  }
  if (name === "help")
    return { words: given.length === 0 ? names : findNamesAfter(`${given.join(" ")} `, commands) };
  if (Object.hasOwn(PARAMETERS, name)) return findCandidatesOfLine(name, given, typed);
  return given.length === 0 ? { words: findNamesAfter(`${name} `, commands) } : NOTHING;
}

/** Returns the distinct next words of the commands whose names begin with a string. */
function findNamesAfter(beginning: string, commands: readonly ListedCommand[]): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(beginning)) continue;
    const [value = "", ...rest] = name.slice(beginning.length).split(" ");
    found.set(value, {
      value,
      description: rest.length > 0 ? "commands for sessions in a database" : summary,
    });
  }
  return [...found.values()];
}

function findCandidatesOfLine(command: string, given: readonly string[], typed: string): Candidates {
  const own = Object.entries(PARAMETERS[command] ?? {}).map(([form, known]): KnownParameter => {
    return typeof known === "string" ? { form, description: known } : { form, ...known };
  });
  const common = COMMON_PARAMETERS.map(({ form, description }) => ({ form, description }));
  const options = [...own.filter(isOption), ...common];
  const args = own.filter((parameter) => !isOption(parameter));
  const { awaited, places, dir, isOfStore } = readWords(given, options);
  const within: Pick<Candidates, "dir" | "session"> = {
    ...(dir !== undefined && { dir }),
    ...findSession(places, args),
  };
  // Completion never waits for a server: a key press without a completion is better than a delay.
  const known = (values: Candidates) =>
    isOfStore && values.lookUp !== "trashed" ? { words: values.words } : { ...values, ...within };
  if (awaited !== undefined) return known(getValues(awaited, typed));
  // Words after `--` are not options, and may be another program's command line.
  if (given.includes("--")) return NOTHING;
  if (typed.startsWith("-")) {
    const unused = options.filter((option) => !getNames(option).some((name) => given.includes(name)));
    const words = unused.map((option) => ({ value: getLongName(option), description: option.description }));
    return { words: [...words, HELP] };
  }
  const last = args.at(-1);
  const parameter = args[places.length] ?? (last?.form.includes("...") ? last : undefined);
  return parameter === undefined ? NOTHING : known(getValues(parameter, typed));
}

/** Returns the session given before the entry, or the default session if the argument is optional. */
function findSession(
  places: readonly string[],
  args: readonly KnownParameter[],
): Pick<Candidates, "session"> {
  const at = args.findIndex(({ form }) => /^[<[]session/.test(form));
  const session = places[at] ?? (args[at]?.form.startsWith("[") ? LATEST : undefined);
  return session === undefined ? {} : { session };
}

/** Reads the words before the word being typed. */
function readWords(given: readonly string[], options: readonly KnownParameter[]) {
  let awaited: KnownParameter | undefined;
  const places: string[] = [];
  let dir: string | undefined;
  let isOfStore = false;
  for (const word of given) {
    if (awaited !== undefined) {
      if (awaited.form === SESSION_DIR.form) dir = word;
      awaited = undefined;
    } else if (word.startsWith("-")) {
      isOfStore ||= word.split("=")[0] === getLongName(STORE);
      awaited = options.find((option) => option.form.includes("<") && getNames(option).includes(word));
    } else places.push(word);
  }
  return { awaited, places, dir, isOfStore };
}

function isOption({ form }: KnownParameter): boolean {
  return form.startsWith("-");
}

/** Returns the spellings of an option: `-o` and `--output`. */
function getNames({ form }: Pick<KnownParameter, "form">): string[] {
  return form.replace(/[<[].*/, "").match(/--?[\w-]+/g) ?? [];
}

function getLongName(option: Pick<KnownParameter, "form">): string {
  return getNames(option).find((name) => name.startsWith("--")) ?? option.form;
}

function getValues({ form, values, isList }: KnownParameter, typed: string): Candidates {
  if (values !== undefined) {
    const before = isList ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
    return { words: values.split(" ").map((value) => ({ value: `${before}${value}`, description: "" })) };
  }
  const [, placeholder = ""] = /[<[](\w+)/.exec(form) ?? [];
  return BY_PLACEHOLDER[placeholder] ?? NOTHING;
}
