import { type AnySessionEntry, isKnownEntryType } from "./entry.ts";
import { sessionEntry, sessionHeader, unknownEntry } from "./entry-shapes.ts";
import type { SessionHeader } from "./header.ts";
import { isJsonRecord, type JsonRecord } from "./json.ts";
import { agentMessage } from "./message-shapes.ts";
import type { Shape } from "./shape.ts";
import { formatProblems } from "./validation-problems.ts";
import { collectProblems } from "./zod-schema.ts";

/** What a check of data found: the value, typed, or what is wrong with it in words. */
export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      /** At least one and at most twenty lines, each a path, a colon, and what was expected there. */
      readonly problems: readonly string[];
    };

/**
 * Checks an entry against the interface of its type, as strictly as the types say.
 *
 * Of an entry of unknown type, and of a message of a role that a host added, only the head is checked. A reader
 * is more lenient than this: an entry that fails here can still be read, kept and shown.
 *
 * @param value - A parsed line, or an entry in memory.
 * @returns The very value that was given, typed, never a copy; or its problems. Nothing is thrown or altered.
 * @remarks Cost: O(size of the value).
 */
export function validateEntry(value: unknown): Validation<AnySessionEntry> {
  return isOpenEntry(value) ? validateShape(unknownEntry, value) : validateShape(sessionEntry, value);
}

/**
 * Checks a session header, as strictly as the types say.
 *
 * @param value - The first record of a file, or a header in memory.
 * @returns The very value that was given, typed, never a copy; or its problems. Nothing is thrown or altered.
 */
export function validateHeader(value: unknown): Validation<SessionHeader> {
  return validateShape(sessionHeader, value);
}

/** Tells whether this library knows no more of an entry than its head. */
function isOpenEntry(value: unknown): boolean {
  if (!isJsonRecord(value) || typeof value["type"] !== "string") return false;
  return !isKnownEntryType(value["type"]) || hasForeignRole(value);
}

function hasForeignRole(entry: JsonRecord): boolean {
  const message = entry["type"] === "message" ? entry["message"] : undefined;
  return (
    isJsonRecord(message) && typeof message["role"] === "string" && !agentMessage.byTag.has(message["role"])
  );
}

function validateShape<T>(shape: Shape<T>, value: unknown): Validation<T> {
  const problems: string[] = [];
  return isConforming(shape, value, problems) ? { ok: true, value } : { ok: false, problems };
}

/** Narrows the value itself: zod returns a copy, which loses identity and keys such as `__proto__`. */
function isConforming<T>(shape: Shape<T>, value: unknown, problems: string[]): value is T {
  problems.push(...formatProblems(collectProblems(shape, value)));
  return problems.length === 0;
}
