import { addTo } from "../../core/format/group-by.ts";
import { FRONT_ENTRIES, SUBAGENT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { BytePattern } from "../../core/jsonl/byte-pattern.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import type { FileRow, SessionRow } from "../../session/files/session-row.ts";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import { findNamedSessionPath } from "../../session/log/session-paths.ts";
import { readFront } from "./deleted-imports.ts";
import { isSubagentEntry } from "./session-calls.ts";

/** Fields that identify a session and its parent. */
export type SessionLineage = Pick<FileRow, "path" | "id" | "parentSession">;

/** Parent-child relations in a set of sessions, based on their headers, which refer to the parent by path or id. */
export class Descent<S extends SessionLineage> {
  readonly #byPath = new Map<string, S[]>();
  readonly #byId = new Map<string, S[]>();
  readonly #children = new Map<S, S[]>();

  constructor(sessions: readonly S[]) {
    for (const session of sessions) {
      addTo(this.#byPath, session.path, session);
      addTo(this.#byId, session.id, session);
    }
    for (const session of sessions)
      for (const parent of this.findParents(session)) addTo(this.#children, parent, session);
  }

  /** Returns the parents that a session's header refers to: an empty array, one session, or all sessions with that id. */
  findParents({ path, parentSession }: S): readonly S[] {
    if (parentSession === undefined) return [];
    const found =
      this.#byPath.get(parentSession) ??
      this.#byPath.get(findNamedSessionPath(parentSession, path) ?? "") ??
      this.#byId.get(parentSession) ??
      [];
    return found.filter((parent) => parent.path !== path);
  }

  /** Returns the given sessions, their ancestors, and the descendants of all of these sessions. */
  findFamily(sessions: readonly S[]): ReadonlySet<S> {
    const family = new Set(sessions);
    // The loop also visits elements added along the way.
    for (const one of family) for (const parent of this.findParents(one)) family.add(parent);
    for (const one of this.findDescendants([...family])) family.add(one);
    return family;
  }

  /**
   * Returns the descendants of the given sessions, children before grandchildren, without the given sessions. Headers may
   * form a cycle.
   */
  findDescendants(ancestors: readonly S[]): S[] {
    const seen = new Set(ancestors);
    const found: S[] = [];
    // The loop also visits elements added along the way.
    const queue = [...ancestors];
    for (const one of queue) {
      for (const child of this.#children.get(one) ?? []) {
        if (seen.has(child)) continue;
        seen.add(child);
        found.push(child);
        queue.push(child);
      }
    }
    return found;
  }
}

const MARK = BytePattern.of(SUBAGENT_CUSTOM_TYPE);

/**
 * Returns a session's relation to the parent in its header: `fork` or `subagent`; empty if it has no parent.
 *
 * @remarks Cost: reads the beginning of the session's file if its header has a parent.
 */
export function getKinship({
  parentSession,
  path,
}: Pick<SessionRow, "parentSession" | "path">): "" | "fork" | "subagent" {
  if (parentSession === undefined) return "";
  return path !== undefined && isOfSubagent(path) ? "subagent" : "fork";
}

function isOfSubagent(path: string): boolean {
  // The row may come from a cache, so the file may no longer be readable.
  const front = callUnlessRefused(() => readFront(path));
  // Nearly all files lack the mark and need not be decoded.
  if (front === undefined || MARK.find(front, 0, front.length) === -1) return false;
  const lines = decodeText(front).split("\n", 1 + FRONT_ENTRIES);
  return lines.some((line) => isSubagentEntry(parseRecord(line) ?? {}));
}

/**
 * Formats a session's relation to its parent in parentheses, as a prefix for its title; empty if it has no parent, or if its
 * program has added the same word to the title.
 */
export function formatKinship(session: Parameters<typeof getKinship>[0] & Pick<SessionRow, "title">): string {
  const kinship = getKinship(session);
  const word = `(${kinship})`;
  return kinship === "" || session.title.endsWith(word) ? "" : `${word} `;
}
