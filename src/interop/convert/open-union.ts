/**
 * A type with at least these fields: an SDK's own type, or an object literal with more fields.
 *
 * Interfaces have no index signature, and object literals may not have unknown fields; each alternative accepts one
 * of the two.
 */
export type Open<T> = T | (T & { readonly [field: string]: unknown });
