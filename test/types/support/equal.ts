import type { JsonValue } from "../../../src/schema/json.ts";

/** True if each of two types can be given where the other is wanted, false otherwise. */
export type MutuallyAssignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** True if two types are the same: fields, optionality, read-only marks, and what they hold. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * A type without the index signatures that loose objects add beside their fields, at every depth.
 *
 * Objects that are nothing but an index signature (JSON objects, sections by name) keep it.
 */
export type WithoutIndex<T> = [JsonValue] extends [T]
  ? T
  : T extends readonly (infer Element)[]
    ? WithoutIndex<Element>[]
    : T extends object
      ? NamedKey<T> extends never
        ? T
        : { [K in keyof T as K extends NamedKey<T> ? K : never]: Field<T, K> }
      : T;

// Reading an optional field adds undefined to its type; only the fields that may be set to undefined keep it.
type Field<T, K extends keyof T> =
  { [P in K]: undefined } extends Pick<T, K>
    ? WithoutIndex<T[K]> | undefined
    : WithoutIndex<Exclude<T[K], undefined>>;

type NamedKey<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: true };

/**
 * True if two types are the same once index signatures are removed.
 *
 * Both questions are asked, for each is blind to something: assignability to optional fields that one side lacks,
 * identity to whether an optional field may be set to undefined.
 */
export type SameFields<A, B> =
  Equal<WithoutIndex<A>, WithoutIndex<B>> extends true
    ? MutuallyAssignable<WithoutIndex<A>, WithoutIndex<B>>
    : false;
