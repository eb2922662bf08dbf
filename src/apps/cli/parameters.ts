import { UsageError } from "./usage-error.ts";

/** Something that a command can be told: an argument or an option, and how its text becomes a value. */
export interface Parameter<T> {
  readonly kind: "argument" | "option";
  /** As the help shows it: `<session>`, `[id]`, `<sessions...>`; `--all`, `--leaf <id>`. */
  readonly form: string;
  readonly description: string;
  /** All values that it can have, if they are few. */
  readonly values?: readonly string[];
  /** Whether it takes several of them, separated by commas. */
  readonly isList?: boolean;
  /** Whether only `help COMMAND` describes it. */
  readonly isRare?: boolean;
  /** Converts what the command line has, or undefined, to a value; throws a `UsageError` if it makes no sense. */
  readonly parse: (given: unknown) => T;
}

/** Leaves a parameter out of the short help, which shows what most calls need. */
export function rare<P extends Parameter<unknown>>(parameter: P): P {
  return { ...parameter, isRare: true };
}

/** An argument that must be given. */
export function argument(form: `<${string}>`, description: string): Parameter<string> {
  return { kind: "argument", form, description, parse: (given) => parseText(form, given) };
}

function defineOptional<T>(
  kind: Parameter<T>["kind"],
  form: string,
  description: string,
  parse: (given: unknown) => T,
): Parameter<T | undefined> {
  return { kind, form, description, parse: (given) => (given === undefined ? undefined : parse(given)) };
}

/** An argument that may be left out. */
export function optionalArgument(form: `[${string}]`, description: string): Parameter<string | undefined> {
  return defineOptional("argument", form, description, (given) => parseText(form, given));
}

/** An argument that stands for a certain text if it is left out. */
export function argumentOr(form: `[${string}]`, description: string, fallback: string): Parameter<string> {
  return { kind: "argument", form, description, parse: (given = fallback) => parseText(form, given) };
}

/** The last argument, given at least once. */
export function argumentList(form: `<${string}...>`, description: string): Parameter<readonly string[]> {
  return { kind: "argument", form, description, parse: (given) => parseTexts(form, given) };
}

/** The last argument, given any number of times. */
export function optionalList(form: `[${string}...]`, description: string): Parameter<readonly string[]> {
  return { kind: "argument", form, description, parse: (given) => parseTexts(form, given ?? []) };
}

/** Words of another command line, any number of them; they may be empty. */
export function foreignWords(form: `[${string}...]`, description: string): Parameter<readonly string[]> {
  const parse = (given: unknown) => (Array.isArray(given) ? given.map(String) : []);
  return { kind: "argument", form, description, parse };
}

/** An option that is there or not. */
export function flag(form: `-${string}`, description: string): Parameter<boolean> {
  return { kind: "option", form, description, parse: (given) => given === true };
}

/** An option with a value, which may be left out. */
export function textOption(
  form: `-${string} <${string}>`,
  description: string,
): Parameter<string | undefined> {
  return defineOptional("option", form, description, (given) => parseText(form, given));
}

/** An option that may have a value: undefined if it is left out, true if it stands alone. */
export function optionWithOrWithout(
  form: `--${string} [${string}]`,
  description: string,
): Parameter<string | true | undefined> {
  return defineOptional("option", form, description, (given) =>
    given === true ? given : parseText(form, given),
  );
}

/** An option with one of some names, which may be left out. */
export function choiceOption<Name extends string>(
  form: `--${string} <${string}>`,
  description: string,
  names: readonly Name[],
): Parameter<Name | undefined> {
  const found = defineOptional("option", form, description, (given) =>
    parseName(form, parseText(form, given), names),
  );
  return { ...found, values: names };
}

/** An option with some of several names, separated by commas, which may be left out. */
export function choicesOption<Name extends string>(
  form: `--${string} <${string}>`,
  description: string,
  names: readonly Name[],
): Parameter<readonly Name[] | undefined> {
  const parseNames = (text: string) => text.split(",").map((one) => parseName(form, one.trim(), names));
  const found = defineOptional("option", form, description, (given) => parseNames(parseText(form, given)));
  return { ...found, values: names, isList: true };
}

function parseName<Name extends string>(form: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  const [option] = form.split(" ");
  throw new UsageError(`${option} takes one of ${names.join(", ")}; "${text}" is none.`);
}

/** An option with a whole number, which may be left out. */
export function numberOption(
  form: `--${string} <${string}>`,
  description: string,
): Parameter<number | undefined> {
  return defineOptional("option", form, description, (given) => parseWholeNumber(form, given));
}

function parseWholeNumber(form: string, given: unknown): number {
  const number = typeof given === "string" && /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new UsageError(`${form} must be a whole number, 1 or more.`);
}

function parseTexts(form: string, given: unknown): string[] {
  return Array.isArray(given) ? given.map((one) => parseText(form, one)) : [parseText(form, given)];
}

function parseText(form: string, given: unknown): string {
  if (typeof given === "string" && given !== "") return given;
  throw new UsageError(`${form} must not be empty.`);
}
