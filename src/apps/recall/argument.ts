import type { JsonObject } from "../../core/format/json.ts";

/** Argument of a tool: its description, and a parser for its value. */
export interface Argument<T> {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Parses the value; throws a `TypeError` if it has the wrong type or is out of bounds. */
  parse(value: unknown): T;
}

/** Values of a call's arguments. */
export interface Arguments {
  get<T>(argument: Argument<T>): T;
}

/** Name of an argument, and its description. */
type Named = readonly [name: string, description: string];

/** Creates an argument for a required string, which must not be empty. */
export function requiredText(...[name, description]: Named): Argument<string> {
  const schema = { type: "string", description };
  const read = textReader(name);
  return {
    name,
    schema,
    isRequired: true,
    parse: (value) => {
      const text = read(value);
      if (text.trim() === "") throw new TypeError(`${name} must not be empty.`);
      return text;
    },
  };
}

/** Creates an optional argument with a default value. */
function defineOptional<T, Fallback extends T | undefined>(
  [name, description]: Named,
  schema: JsonObject,
  read: (value: unknown) => T,
  fallback: Fallback,
): Argument<T | Fallback> {
  return {
    name,
    schema: { ...schema, description },
    isRequired: false,
    // Models write null for omitted values.
    parse: (value) => (value === undefined || value === null || value === "" ? fallback : read(value)),
  };
}

/** Creates an optional string argument. */
export function optionalText(...named: Named): Argument<string | undefined> {
  return defineOptional(named, { type: "string" }, textReader(named[0]), undefined);
}

/** Creates a Boolean argument; default: false. */
export function switchArgument(...named: Named): Argument<boolean> {
  const read = (value: unknown) => {
    if (typeof value === "boolean") return value;
    throw new TypeError(`${named[0]} must be true or false.`);
  };
  return defineOptional(named, { type: "boolean" }, read, false);
}

/** Bounds and default of a number. */
interface CountBounds {
  readonly min?: number;
  readonly max: number;
  readonly fallback: number;
}

/** Creates an argument for an integer within bounds. */
export function countArgument(named: Named, { min = 0, max, fallback }: CountBounds): Argument<number> {
  const read = (value: unknown) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new TypeError(`${named[0]} must be a whole number from ${min} to ${max}.`);
  };
  const schema = { type: "integer", minimum: min, maximum: max, default: fallback };
  return defineOptional(named, schema, read, fallback);
}

/** Creates an argument for one of several words; default: the first. */
export function choiceArgument<Word extends string>(
  named: Named,
  words: readonly [Word, ...Word[]],
): Argument<Word> {
  const schema = { type: "string", enum: [...words], default: words[0] };
  return defineOptional(named, schema, (value) => parseWord(named[0], value, words), words[0]);
}

/** Creates an argument for any of several words; undefined if omitted. */
export function choicesArgument<Word extends string>(
  named: Named,
  words: readonly Word[],
): Argument<readonly Word[] | undefined> {
  const [name] = named;
  const schema = { type: "array", items: { type: "string", enum: [...words] } };
  const read = (value: unknown): readonly Word[] => {
    // Models write a single word without an array, or several separated by commas.
    const all: unknown = typeof value === "string" ? value.split(/\s*,\s*/) : value;
    if (!Array.isArray(all)) throw new TypeError(`${name} must be an array of ${words.join(", ")}.`);
    return all.map((one: unknown) => parseWord(name, one, words));
  };
  return defineOptional(named, schema, read, undefined);
}

function parseWord<Word extends string>(name: string, value: unknown, words: readonly Word[]): Word {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new TypeError(`${name} must be one of ${words.join(", ")}.`);
}

function textReader(name: string): (value: unknown) => string {
  return (value) => {
    if (typeof value === "string") return value;
    throw new TypeError(`${name} must be a string.`);
  };
}

/** Reads the values of a call, and rejects unknown arguments. */
export function readArguments(
  all: readonly Argument<unknown>[],
  values: { readonly [name: string]: unknown },
): Arguments {
  const names = all.map(({ name }) => name);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(
      `Unknown argument ${JSON.stringify(unknown)}; the arguments are ${names.join(", ")}.`,
    );
  return { get: (argument) => argument.parse(values[argument.name]) };
}

/** Returns the JSON Schema of arguments. */
export function makeArgumentsSchema(all: readonly Argument<unknown>[]): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    required: all.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}
