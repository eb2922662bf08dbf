/**
 * Data that describes the shape of a value. Checks and schemas are derived from it.
 *
 * Unlisted fields are kept and may have any value.
 */
export type AnyShape =
  | { readonly kind: "string" | "number" | "boolean" | "null" | "anything" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "json"; readonly isObject: boolean }
  | { readonly kind: "list"; readonly of: AnyShape; readonly expected: string }
  | { readonly kind: "map"; readonly of: AnyShape }
  | { readonly kind: "oneOf"; readonly of: readonly AnyShape[]; readonly expected: string }
  | AnyObjectShape
  | AnyVariants;

/** Shape of a field, which may be required, optional, or undefined. */
export type AnyField =
  | AnyShape
  | { readonly kind: "optional"; readonly of: AnyShape; readonly orUndefined: boolean };

/** Field that readers depend on, and whether it may be missing. */
export interface NeededField {
  readonly name: string;
  readonly shape: AnyField;
  readonly mayBeMissing: boolean;
}

/** Object with certain fields. */
export interface AnyObjectShape {
  readonly kind: "object";
  readonly fields: { readonly [name: string]: AnyField };
  /** Fields that session readers require. The quick check covers only these. */
  readonly needed: readonly NeededField[];
}

/** Object with one of several shapes, distinguished by a field. */
export interface AnyVariants {
  readonly kind: "variants";
  readonly tag: string;
  /** Shapes by the value of the tag. */
  readonly byTag: ReadonlyMap<unknown, AnyObjectShape>;
}

/** Associates data with a type. Invariant, and used only by the compiler. */
interface Typed<T> {
  readonly type?: (value: T) => T;
}

/** Shape of values of a type. The compiler rejects a shape that does not match the type exactly. */
export type Shape<T> = AnyShape & Typed<T>;

/** Shape of objects of a type. */
export type ObjectShape<T> = AnyObjectShape & Typed<T>;

/** Shape of objects that are distinguished by a tag. */
export type VariantsShape<T> = AnyVariants & Typed<T>;

/** Shape of a field that may be missing. */
interface Optional<T> extends Typed<T> {
  readonly kind: "optional";
  readonly of: AnyShape;
  readonly orUndefined: false;
}

/** Shape of a field that the type requires, although JSON omits it when it is undefined. */
interface OrUndefined<T> extends Typed<T> {
  readonly kind: "optional";
  readonly of: AnyShape;
  readonly orUndefined: true;
}

/** Named fields of a type, without index signatures. */
type NamedKey<T> = keyof { [K in keyof T as string extends K ? never : K]: never };

/** Shapes for all fields of a type. The compiler rejects missing and additional fields. */
export type FieldsOf<T> = {
  readonly [K in NamedKey<T> & keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Optional<Exclude<T[K], undefined>>
    : undefined extends T[K]
      ? OrUndefined<Exclude<T[K], undefined>>
      : Shape<T[K]>;
};

/** Any string. */
export const string: Shape<string> = { kind: "string" };

/** Any number. */
export const number: Shape<number> = { kind: "number" };

/** True or false. */
export const boolean: Shape<boolean> = { kind: "boolean" };

/** Any value. */
export const anything: Shape<unknown> = { kind: "anything" };

/** Null; used with `oneOf`. */
export const nothing: Shape<null> = { kind: "null" };

/** Returns the shape of any value that JSON can represent. */
export function json<T>(): Shape<T> {
  return { kind: "json", isObject: false };
}

/** Returns the shape of any object that JSON can represent. */
export function jsonObject<T extends object>(): Shape<T> {
  return { kind: "json", isObject: true };
}

/** Returns the shape of one of several strings. */
export function words<const Word extends string>(...allowed: readonly Word[]): Shape<Word> {
  return { kind: "words", words: allowed };
}

/** Returns the shape of an array of values of a shape. */
export function arrayOf<T>(of: Shape<T>, expected = "an array"): Shape<T[]> {
  return { kind: "list", of, expected };
}

/** Returns the shape of an object that maps any name to values of a shape. */
export function mapOf<T>(of: Shape<T>): Shape<{ [name: string]: T }> {
  return { kind: "map", of };
}

/** Returns the shape of values that have one of several shapes. */
export function oneOf<A, B, C = never>(
  expected: string,
  a: Shape<A>,
  b: Shape<B>,
  ...more: readonly Shape<C>[]
): Shape<A | B | C> {
  return { kind: "oneOf", of: [a, b, ...more], expected };
}

/** Returns a shape that also accepts an older one, which occurs in old files but is not part of the type. */
export function orOlder<T>(expected: string, shape: Shape<T>, older: AnyShape): Shape<T> {
  return { kind: "oneOf", of: [shape, older], expected };
}

/** Marks a field that may be missing. */
export function optional<T>(of: Shape<T>): Optional<T> {
  return { kind: "optional", of, orUndefined: false };
}

/** Marks a field that may be missing or undefined, although its type requires it. */
export function orUndefined<T>(of: Shape<T>): OrUndefined<T> {
  return { kind: "optional", of, orUndefined: true };
}

/**
 * Returns the shape of objects of a type.
 *
 * @param fields - Shape of each field that the type declares.
 * @param readers - Fields that readers of a session depend on, for the quick check. Fields in `neededKind` may be missing.
 */
export function object<T extends object>(
  fields: FieldsOf<T>,
  readers: Partial<Readonly<Record<"needed" | "neededKind", readonly (keyof T & string)[]>>> = {},
): ObjectShape<T> {
  const { needed = [], neededKind = [] } = readers;
  const all: { readonly [name: string]: AnyField } = Object.fromEntries(Object.entries(fields));
  const pick = (names: readonly string[], mayBeMissing: boolean) =>
    names.flatMap((name) => {
      const shape = all[name];
      return shape === undefined ? [] : [{ name, shape, mayBeMissing }];
    });
  return { kind: "object", fields: all, needed: [...pick(needed, false), ...pick(neededKind, true)] };
}

/** Type of the objects of a shape. */
type TypeIn<S> = S extends Typed<infer T> ? T : never;

/** Returns the shape of objects of several types that are distinguished by the value of one field. */
export function variants<S extends readonly AnyObjectShape[]>(
  tag: string,
  ...shapes: S
): VariantsShape<TypeIn<S[number]>> {
  const tags = (shape: AnyObjectShape) => {
    const field = shape.fields[tag];
    return field?.kind === "words" ? field.words : [];
  };
  return {
    kind: "variants",
    tag,
    byTag: new Map(shapes.flatMap((shape) => tags(shape).map((word) => [word, shape] as const))),
  };
}
