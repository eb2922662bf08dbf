/**
 * What has at least these fields: an SDK's own type, or an object that is written down with more of them.
 *
 * Interfaces have no index signature, and object literals are refused fields that nobody named; one of the two takes each.
 */
export type Open<T> = T | (T & { readonly [field: string]: unknown });
