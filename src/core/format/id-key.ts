/**
 * Entry id in the form that the tree stores. Eight lower-case hex characters are converted to the number that they encode, which
 * takes four bytes; any other id remains a string.
 *
 * The number is a signed 32-bit integer. Engines store such numbers inline, and larger ones as objects.
 */
export type IdKey = number | string;

const ID_LENGTH = 8;

/** Converts an id to its key. */
export function toIdKey(id: string): IdKey {
  if (id.length !== ID_LENGTH) return id;
  let key = 0;
  // Ids are looked up several times per entry, and a regular expression takes three times as long.
  for (let i = 0; i < ID_LENGTH; i++) {
    const code = id.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) key = (key << 4) | (code - 0x30);
    else if (code >= 0x61 && code <= 0x66) key = (key << 4) | (code - 0x57);
    else return id;
  }
  return key;
}

/** Converts a key back to its id. */
export function fromIdKey(key: IdKey): string {
  if (typeof key === "string") return key;
  // `Number.prototype.toString` takes five times as long, and a path has as many ids as entries.
  return String.fromCharCode(
    getDigit(key, 28),
    getDigit(key, 24),
    getDigit(key, 20),
    getDigit(key, 16),
    getDigit(key, 12),
    getDigit(key, 8),
    getDigit(key, 4),
    getDigit(key, 0),
  );
}

/** Returns the character code of the hex digit that starts at a given bit. */
function getDigit(key: number, bit: number): number {
  const digit = (key >>> bit) & 0xf;
  return digit < 10 ? digit + 0x30 : digit + 0x57;
}
