import { type AnySessionEntry, isKnownEntryType } from "./entry.ts";
import { sessionEntry, sessionHeader, unknownEntry } from "./entry-shapes.ts";
import type { SessionHeader } from "./header.ts";
import { isJsonRecord, type JsonRecord } from "./json.ts";
import { agentMessage } from "./message-shapes.ts";
import type { Shape } from "./shape.ts";
import { formatProblems } from "./validation-problems.ts";
import { collectProblems } from "./zod-schema.ts";

/** Result of validation: the typed value, or descriptions of its problems. */
export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      /** Between one and twenty lines, each with a path, a colon, and the expected value. */
      readonly problems: readonly string[];
    };

/**
 * Checks an entry against its type declaration.
 *
 * For an entry of unknown type, or a message with a role that a host added, only the head is checked. Readers are more lenient:
 * they can still read, keep, and display an entry that fails validation.
 *
 * @param value - A parsed line, or an entry in memory.
 * @returns The given value itself (never a copy) with its type, or its problems. Does not throw or change the value.
 * @remarks Cost: O(size of the value).
 */
export function validateEntry(value: unknown): Validation<AnySessionEntry> {
  return isOpenEntry(value) ? validateShape(unknownEntry, value) : validateShape(sessionEntry, value);
}

/**
 * Checks a session header against its type declaration.
 *
 * @param value - The first record of a file, or a header in memory.
 * @returns The given value itself (never a copy) with its type, or its problems. Does not throw or change the value.
 */
export function validateHeader(value: unknown): Validation<SessionHeader> {
  return validateShape(sessionHeader, value);
}

/** Returns whether this library knows only the head of an entry. */
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

/** Narrows the value itself. zod returns a copy, which loses the identity and keys such as `__proto__`. */
function isConforming<T>(shape: Shape<T>, value: unknown, problems: string[]): value is T {
  problems.push(...formatProblems(collectProblems(shape, value)));
  return problems.length === 0;
}
