import { toSafeString } from "../../core/format/json.ts";
import { UsageError } from "./usage-error.ts";

/** Command parameter: an argument or an option, and the conversion of its text to a value. */
export interface Parameter<T> {
  readonly kind: "argument" | "option";
  /** Form in the help: `<session>`, `[id]`, `<sessions...>`; `--all`, `--leaf <id>`. */
  readonly form: string;
  readonly description: string;
  /** All possible values, if there are only a few. */
  readonly values?: readonly string[];
  /** Whether it accepts several values, separated by commas. */
  readonly isList?: boolean;
  /** Whether it appears only in `help COMMAND`. */
  readonly isRare?: boolean;
  /** Converts the value from the command line, which is undefined if not given; throws a `UsageError` if it is invalid. */
  readonly parse: (given: unknown) => T;
}

/** Marks a parameter as rare, so that the short help omits it. */
export function rare<P extends Parameter<unknown>>(parameter: P): P {
  return { ...parameter, isRare: true };
}

/** Creates a required argument. */
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

/** Creates an optional argument. */
export function optionalArgument(form: `[${string}]`, description: string): Parameter<string | undefined> {
  return defineOptional("argument", form, description, (given) => parseText(form, given));
}

/** Creates an optional argument with a default. */
export function argumentOr(form: `[${string}]`, description: string, fallback: string): Parameter<string> {
  return { kind: "argument", form, description, parse: (given = fallback) => parseText(form, given) };
}

/** Creates a final argument that must occur at least once and can be repeated. */
export function argumentList(form: `<${string}...>`, description: string): Parameter<readonly string[]> {
  return { kind: "argument", form, description, parse: (given) => parseTexts(form, given) };
}

/** Creates a final argument that can be repeated or omitted. */
export function optionalList(form: `[${string}...]`, description: string): Parameter<readonly string[]> {
  return { kind: "argument", form, description, parse: (given) => parseTexts(form, given ?? []) };
}

/** Creates an argument for any number of words of another command line; the words may be empty. */
export function foreignWords(form: `[${string}...]`, description: string): Parameter<readonly string[]> {
  const parse = (given: unknown) => (Array.isArray(given) ? given.map(toSafeString) : []);
  return { kind: "argument", form, description, parse };
}

/** Creates an option without a value. */
export function flag(form: `-${string}`, description: string): Parameter<boolean> {
  return { kind: "option", form, description, parse: (given) => given === true };
}

/** Creates an option with a value; undefined if the option is omitted. */
export function textOption(
  form: `-${string} <${string}>`,
  description: string,
): Parameter<string | undefined> {
  return defineOptional("option", form, description, (given) => parseText(form, given));
}

/** Creates an option with an optional value: undefined if the option is omitted, true if it has no value. */
export function optionWithOrWithout(
  form: `--${string} [${string}]`,
  description: string,
): Parameter<string | true | undefined> {
  return defineOptional("option", form, description, (given) =>
    given === true ? given : parseText(form, given),
  );
}

/** Creates an option with one of several names as its value; undefined if the option is omitted. */
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

/** Creates an option with one or more of several names, separated by commas; undefined if the option is omitted. */
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
  throw new UsageError(`${option} must be one of ${names.join(", ")}, not "${text}".`);
}

/** Creates an option with a positive integer as its value; undefined if the option is omitted. */
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
