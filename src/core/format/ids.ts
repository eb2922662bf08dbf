import { customAlphabet } from "nanoid";
import { v5, v7 } from "uuid";
import { SessionError } from "./errors.ts";

const SESSION_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

const ENTRY_ID_LENGTH = 8;

/** Generates the digits of many ids in one call, because one call per id takes several times as long. */
const randomDigits = customAlphabet("0123456789abcdef", 64 * ENTRY_ID_LENGTH);

const digits = { text: "", used: 0 };

/** Unique namespace for names derived from content. */
const CONTENT_NAMESPACE = "5d0c1f0e-6c1b-4b0e-9d4f-7a5e3c2b1a90";

/** Creates an entry id, eight lower-case hex characters, for which `isTaken` returns false. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  let id: string;
  do {
    if (digits.used === digits.text.length) {
      digits.text = randomDigits();
      digits.used = 0;
    }
    const start = digits.used;
    digits.used += ENTRY_ID_LENGTH;
    id = digits.text.slice(start, digits.used);
  } while (isTaken(id));
  return id;
}

/** Creates a session id: a UUIDv7, which sorts by time of creation. */
export function createSessionId(): string {
  return v7();
}

/**
 * Rejects an id that cannot be part of a safe file name.
 *
 * @throws {SessionError} `INVALID_SESSION_ID` unless the id consists of letters, digits, `.`, `_`, and `-`, with a letter or
 *   digit at both ends.
 */
export function assertValidSessionId(id: string): void {
  if (typeof id === "string" && SESSION_ID.test(id)) return;
  const message = `Invalid session id ${JSON.stringify(id)}: use letters, digits, ".", "_" and "-", with a letter or digit at both ends.`;
  throw new SessionError("INVALID_SESSION_ID", message, { details: { id } });
}

/**
 * Derives an id for an entry that has no id from the entry's position, so that every read produces the same id.
 *
 * Uses FNV-1a with a final mix. `attempt` resolves collisions.
 *
 * @param sessionId - Id of the session.
 * @param place - Number of the record in its file.
 * @param attempt - 0 first, then 1, 2, … while the id is taken.
 * @returns Eight lower-case hex characters.
 */
export function inventEntryId(sessionId: string, place: number, attempt: number): string {
  const text = `${sessionId}\n${place}\n${attempt}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, "0");
}

/**
 * Derives a name from a string. The name is the same on every system. Two strings have the same name only if their SHA-1 hashes
 * collide.
 *
 * @returns 32 lower-case hex characters.
 * @remarks Cost: O(text).
 */
export function hashText(text: string): string {
  return v5(new TextEncoder().encode(text), CONTENT_NAMESPACE).replaceAll("-", "");
}
