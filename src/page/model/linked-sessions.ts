import { fieldsOf, listOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../core.ts";
import { resultCallId } from "../../view/tool-calls.ts";

/** Another session that an entry names, such as that of a subagent, and that exists. */
export interface LinkedSession {
  readonly path: string;
  /** Address of its page; undefined where no server can give it. */
  readonly href: string | undefined;
}

/** Levels of nested fields in which sessions are named. */
const DEEPEST = 4;

/**
 * Finds the entries that name other sessions: in what a program stored, in details of results, and the results of the
 * calls that those are about.
 *
 * @param known - Sessions that exist, by the path or id by which this session names them.
 * @returns By ordinal.
 * @remarks Cost: O(entries), and nothing if no session is known.
 */
export function linkedSessions(
  entries: readonly AnySessionEntry[],
  known: ReadonlyMap<string, LinkedSession>,
): Map<number, readonly LinkedSession[]> {
  const links = new Map<number, Set<LinkedSession>>();
  if (known.size === 0) return new Map();
  const results = new Map(entries.map((entry, ordinal) => [resultCallId(entry), ordinal]));
  entries.forEach((entry, ordinal) => {
    const fields = fieldsOf(entry);
    const message = fieldsOf(fields["message"]);
    const stored = [fields["data"], fields["details"], message["details"]];
    const found = stored.flatMap((value) => namesIn(value, 0)).flatMap((name) => known.get(name) ?? []);
    const callId = textOf(fieldsOf(fields["data"])["toolCallId"]);
    const answered = callId === "" ? undefined : results.get(callId);
    for (const at of answered === undefined ? [ordinal] : [ordinal, answered]) {
      const some = links.get(at) ?? new Set();
      for (const one of found) some.add(one);
      if (some.size > 0) links.set(at, some);
    }
  });
  return new Map(Array.from(links, ([ordinal, some]) => [ordinal, [...some]]));
}

function namesIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (depth > DEEPEST) return [];
  const parts = Array.isArray(value) ? listOf(value) : Object.values(fieldsOf(value));
  return parts.flatMap((part) => namesIn(part, depth + 1));
}
