/**
 * An entry id in the form that the tree keeps: eight lower-case hex characters become the number that they write,
 * which costs four bytes instead of a string; every other id stays a string.
 */
export type IdKey = number | string;

const ID_LENGTH = 8;

/** Turns an id into its key. */
export function idKeyOf(id: string): IdKey {
  if (id.length !== ID_LENGTH) return id;
  let key = 0;
  // Ids are looked up several times for each entry, and a regular expression takes three times as long.
  for (let i = 0; i < ID_LENGTH; i++) {
    const code = id.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) key = key * 16 + code - 0x30;
    else if (code >= 0x61 && code <= 0x66) key = key * 16 + code - 0x57;
    else return id;
  }
  return key;
}

/** Turns a key back into the id. */
export function idOfKey(key: IdKey): string {
  return typeof key === "number" ? key.toString(16).padStart(8, "0") : key;
}
