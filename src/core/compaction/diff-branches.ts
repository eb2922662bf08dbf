import { toRecord } from "../context/entry-fields.ts";
import { assertSession } from "../format/arguments.ts";
import type { SessionEntry } from "../format/entry.ts";
import { makeEntryNotFoundError } from "../format/errors.ts";
import {
  computeFileLists,
  createFileOps,
  extractFileOpsFromMessage,
  type FileLists,
} from "./file-operations.ts";

/** Session method required to compare branches. `SessionManager` and `ReadonlySessionManager` implement it. */
export interface EntrySource {
  /** Returns an entry by id. */
  getEntry(id: string): SessionEntry | undefined;
}

/** Entries and files found in only one of two branches. */
export interface BranchSide extends FileLists {
  /** Entries between the common ancestor and the end of the branch. Empty if the other branch continues this one. */
  readonly entries: SessionEntry[];
}

/** Point where two branches diverge, and the content of each branch after that point. */
export interface BranchDiff {
  /** Deepest common entry; null if there is none. */
  readonly commonAncestorId: string | null;
  readonly x: BranchSide;
  readonly y: BranchSide;
}

/**
 * Compares two branches of a session. Returns the point where they diverge, the entries of each branch after that point, and the
 * files that their tool calls read and modified.
 *
 * @param session - The session.
 * @param x - Id of the last entry of one branch.
 * @param y - Id of the last entry of the other branch.
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 * @remarks Cost: O(result). Reads at most twice as many entries as the longer side contains.
 */
export function diffBranches(session: EntrySource, x: string, y: string): BranchDiff {
  assertSession(session, "getEntry");
  const climbs = [new Climb(session, x), new Climb(session, y)] as const;
  const [one, other] = climbs;
  // Alternates between the branches, because either one may be deeper.
  let meeting = other.has(x) ? x : undefined;
  while (meeting === undefined && !(one.isDone && other.isDone)) {
    meeting = one.step(other) ?? other.step(one);
  }
  return {
    commonAncestorId: meeting ?? null,
    x: makeSide(one.below(meeting)),
    y: makeSide(other.below(meeting)),
  };
}

class Climb {
  readonly #session: EntrySource;
  readonly #passed = new Map<string, SessionEntry>();
  #next: string | null;

  constructor(session: EntrySource, id: string) {
    this.#session = session;
    const entry = session.getEntry(id);
    if (entry === undefined) throw makeEntryNotFoundError(id);
    this.#passed.set(id, entry);
    this.#next = entry.parentId;
  }

  get isDone(): boolean {
    return this.#next === null;
  }

  has(id: string): boolean {
    return this.#passed.has(id);
  }

  /** Moves up one entry. Returns the entry's id if the other traversal has already visited it. */
  step(other: Climb): string | undefined {
    const id = this.#next;
    if (id === null) return undefined;
    if (other.has(id)) return id;
    const entry = this.#passed.has(id) ? undefined : this.#session.getEntry(id);
    if (entry !== undefined) this.#passed.set(id, entry);
    this.#next = entry?.parentId ?? null;
    return undefined;
  }

  /** Returns the entries visited before the given entry, oldest first. */
  below(id: string | undefined): SessionEntry[] {
    const entries: SessionEntry[] = [];
    for (const [passed, entry] of this.#passed) {
      if (passed === id) break;
      entries.push(entry);
    }
    return entries.reverse();
  }
}

function makeSide(entries: SessionEntry[]): BranchSide {
  const fileOps = createFileOps();
  for (const entry of entries) extractFileOpsFromMessage(toRecord(entry)["message"], fileOps);
  return { entries, ...computeFileLists(fileOps) };
}
