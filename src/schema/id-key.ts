/**
 * An entry id in the form that the tree keeps: eight lower-case hex characters become the number that they write,
 * which costs four bytes instead of a string; every other id stays a string.
 */
export type IdKey = number | string;

const HEX_ID = /^[0-9a-f]{8}$/;

/** Turns an id into its key. */
export function idKeyOf(id: string): IdKey {
  return HEX_ID.test(id) ? Number.parseInt(id, 16) : id;
}

/** Turns a key back into the id. */
export function idOfKey(key: IdKey): string {
  return typeof key === "number" ? key.toString(16).padStart(8, "0") : key;
}
