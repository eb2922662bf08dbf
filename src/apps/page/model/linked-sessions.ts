import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import type { AnySessionEntry } from "../../../core.ts";

/** Another session that an entry names, such as that of a subagent, and that exists. */
export interface LinkedSession {
  readonly path: string;
  /** Address of its page; undefined where no server can give it. */
  readonly href: string | undefined;
}

/** The sessions that an entry names, and the call that they are about; empty if none is. */
export interface LinkedSessions {
  readonly sessions: readonly LinkedSession[];
  readonly callId: string;
}

/** What is known of an entry that may name sessions, or be the result of a call that they are about. */
interface LinkingEntry {
  readonly callId: string;
  readonly links: LinkedSessions | undefined;
}

/** Levels of nested fields in which sessions are named. */
const DEEPEST = 4;

/**
 * Finds other sessions that an entry names: in what a program stored, and in details of results.
 *
 * @param known - Sessions that exist, by the path or id by which this session names them.
 * @returns Undefined if it names none.
 */
export function linksIn(
  entry: AnySessionEntry,
  known: ReadonlyMap<string, LinkedSession>,
): LinkedSessions | undefined {
  if (known.size === 0) return undefined;
  const fields = fieldsOf(entry);
  const stored = [fields["data"], fields["details"], fieldsOf(fields["message"])["details"]];
  const sessions = stored.flatMap((value) => namesIn(value, 0)).flatMap((name) => known.get(name) ?? []);
  if (sessions.length === 0) return undefined;
  return { sessions, callId: textOf(fieldsOf(fields["data"])["toolCallId"]) };
}

/**
 * Finds the entries to which links belong: those that name other sessions, and the results of the calls that those are about.
 *
 * @returns By ordinal.
 * @remarks Cost: O(entries).
 */
export function linkedSessions(facts: readonly LinkingEntry[]): Map<number, readonly LinkedSession[]> {
  const links = new Map<number, Set<LinkedSession>>();
  const naming = facts.flatMap(({ links: one }, ordinal) => (one === undefined ? [] : { ...one, ordinal }));
  if (naming.length === 0) return new Map();
  const results = new Map(facts.map(({ callId }, ordinal) => [callId, ordinal]));
  for (const { ordinal, callId, sessions } of naming) {
    const answered = callId === "" ? undefined : results.get(callId);
    for (const at of answered === undefined ? [ordinal] : [ordinal, answered]) {
      const some = links.get(at) ?? new Set();
      for (const one of sessions) some.add(one);
      links.set(at, some);
    }
  }
  return new Map(Array.from(links, ([ordinal, some]) => [ordinal, [...some]]));
}

function namesIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (depth > DEEPEST) return [];
  const parts = Array.isArray(value) ? listOf(value) : Object.values(fieldsOf(value));
  return parts.flatMap((part) => namesIn(part, depth + 1));
}
