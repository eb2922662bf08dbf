import { isStoredMessage } from "../../core/context/entry-fields.ts";
import { type AnySessionEntry, LEAF_CUSTOM_TYPE, type UnknownEntry } from "../../core/format/entry.ts";
import { inventEntryId } from "../../core/format/ids.ts";
import { IMPORT_CUSTOM_TYPE, makeSourceKey } from "../../core/format/import-origin.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { toUsage } from "../convert/answer.ts";
import type { ContinuedSession } from "./continued-session.ts";
import { type EntryBody, makeCustom } from "./entry-bodies.ts";
import {
  type ContinuedOrigin,
  IMPORT_MAPPING,
  type ImportCounts,
  type ImportedSession,
  type ImportProvenance,
  NO_COUNTS,
  type SourceName,
  type SourceParent,
} from "./imported-session.ts";
import { findFirstFolder, toIsoTime } from "./source-text.ts";

/** Fields of the input of most importers. */
export interface BuilderInput {
  /** Path of the file. */
  readonly path?: string;
  /** Working directory to use if no record contains a working directory. */
  readonly cwd?: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

/** Source of a session's records. */
export interface SessionOrigin {
  readonly source: SourceName;
  readonly sourceId: string;
  /** Default: the path of the input. */
  readonly sourcePath?: string | undefined;
  readonly sourceVersion?: string | undefined;
  /** Id of the new session. Default: derived from `sourceId`. */
  readonly id?: string;
  /** Candidates for the working directory. The first valid one is used. Default: the working directory of the input. */
  readonly folders?: Iterable<unknown>;
  /** Start time of the session, as in the source. */
  readonly startedAt: unknown;
  /**
   * Ids of the session that started this one as a subagent, and of the original session if this one is a fork. The session's own
   * id is ignored.
   */
  readonly startedBy?: string | undefined;
  readonly forkOf?: string | undefined;
  readonly issues?: readonly SessionIssue[];
}

/** An unfinished entry, whose body may still change. */
export type Draft = UnknownEntry;

type Untimed<M> = M extends unknown ? Omit<M, "timestamp"> : never;

/** A message without a timestamp. */
export type UntimedMessage = Untimed<AgentMessage>;

/** Returns the key for the id of an entry that marks the leaf. */
export function makeLeafMarkerKey(leafId: string): string {
  return `leaf ${leafId}`;
}

/** Returns whether an entry was created by an import to mark the leaf. */
export function isLeafMarker({ id, parentId, customType }: UnknownEntry): boolean {
  return (
    customType === LEAF_CUSTOM_TYPE && parentId !== null && id === makeEntryId(makeLeafMarkerKey(parentId))
  );
}

/** Derives an entry id from a key. For a UUID, the id is its first eight characters. */
export function makeEntryId(key: string): string {
  return UUID_FRONT.test(key) && key.length === 36 ? key.slice(0, 8) : inventEntryId(key, 0, 0);
}

/** Returns the key of a record with an id: the id itself if it is a UUID, or otherwise the program's name and the id. */
export function makeIdKey(program: string, id: string): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? id : `${program} ${id}`;
}

/** Returns an id that is safe to use in a file name. Invalid characters are replaced with dashes. */
export function makeSessionId(sourceId: string): string {
  return sourceId.replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[._-]+|[._-]+$/g, "") || "unnamed";
}

/** Time of sessions without a known time, which sorts them before all other sessions. */
export const NO_TIME = "1970-01-01T00:00:00.000Z";

const UUID_FRONT = /^[0-9a-f]{8}-/;

/** Derives a subagent's source id from its parent's session id, because agents of two sessions may have the same id. */
export function makeSubagentSourceId(sessionId: string, agentId: string): string {
  return `${sessionId}.agent-${agentId}`;
}

/**
 * Returns the id for a subagent's session.
 *
 * It does not begin with the main session's id, because a prefix of that id would then match both sessions.
 */
export function makeSubagentSessionId(sessionId: string, agentId: string): string {
  return makeSessionId(`agent-${agentId}.${sessionId}`);
}

/**
 * Builds a session from another program's records, entry by entry.
 *
 * Ids are derived from keys, so the same records always yield the same entries. An entry without a time gets the time of the
 * previously added entry.
 */
export class SessionBuilder {
  readonly counts: ImportCounts = { ...NO_COUNTS };
  readonly issues: SessionIssue[];
  readonly #origin: SessionOrigin;
  readonly #cwd: string;
  readonly #startedAt: string;
  readonly #entries: Draft[] = [];
  readonly #byId = new Map<string, Draft>();
  /** Number of attempts at deriving an id, by key, because damaged files repeat a key thousands of times. */
  readonly #attempts = new Map<string, number>();
  /** Number of times each numbered key was used. */
  readonly #uses = new Map<string, number>();
  /**
   * For an entry, the entry that `addBehind` added after it. New children of the first entry are attached to the second entry.
   */
  readonly #behind = new Map<Draft, Draft>();
  readonly #dropped = new Map<string, number>();
  readonly #withdrawnIds = new Set<string>();
  readonly #madeNameIds = new Set<string>();
  readonly #provenance: ImportProvenance;
  readonly #copies = new Set<Draft>();
  #continued: ContinuedSession | undefined;
  #isCopy = false;
  #time: string;

  constructor(input: BuilderInput, origin: SessionOrigin) {
    this.#origin = { sourcePath: input.path, ...origin };
    const { cwd, issues } = findFirstFolder(origin.folders ?? []);
    this.#cwd = cwd ?? input.cwd ?? "";
    this.issues = [...(origin.issues ?? []), ...issues];
    this.#startedAt = toIsoTime(origin.startedAt) ?? NO_TIME;
    this.#time = this.#startedAt;
    const { source, sourceId, sourcePath = null, sourceVersion = null } = this.#origin;
    const { importedAt } = input;
    const data: ImportProvenance = {
      source,
      sourceId,
      sourcePath,
      sourceVersion,
      mapping: IMPORT_MAPPING,
      importedAt,
      counts: this.counts,
    };
    this.#provenance = data;
    this.add(makeSourceKey(origin), null, this.#startedAt, makeCustom(IMPORT_CUSTOM_TYPE, data));
  }

  /** The last entry so far. At the beginning, that is the entry that records the session's source. */
  get tip(): Draft {
    const last = this.#entries.at(-1);
    if (last === undefined) throw new Error("The first entry must be created by the constructor.");
    return last;
  }

  /**
   * Adds an entry. If a compaction has no first kept entry, its own id is used, because it keeps no entries.
   *
   * @param key - Determines the id. For a UUID, the id is its first eight characters if they are not taken.
   * @param parent - Undefined for an entry that begins or restarts the conversation; null for a root.
   * @param time - Time as in the source.
   * @param id - Id in the source, kept if it is not taken.
   */
  add(key: string, parent: Draft | undefined | null, time: unknown, body: EntryBody, id?: string): Draft {
    const timestamp = toIsoTime(time) ?? this.#time;
    const { type, ...fields } = body;
    const draft: Draft = {
      type,
      id: this.#makeId(key, id),
      parentId: parent === null ? null : this.lastBehind(parent ?? this.#entries[0]).id,
      timestamp,
      ...fields,
    };
    this.#byId.set(draft.id, draft);
    this.#time = timestamp;
    this.#entries.push(draft);
    this.counts.entries++;
    if (type === "compaction") {
      this.counts.compactions++;
      draft["firstKeptEntryId"] ??= draft.id;
    }
    if (isStoredMessage(draft["message"])) this.#count(draft["message"]);
    return draft;
  }

  /** Adds a message and sets its time to the time of the entry. */
  addMessage(key: string, parent: Draft | undefined, time: unknown, untimed: UntimedMessage): Draft {
    const timestamp = toIsoTime(time) ?? this.#time;
    const message: AgentMessage = Object.assign(untimed, { timestamp: Date.parse(timestamp) });
    return this.add(key, parent, timestamp, { type: "message", message });
  }

  /**
   * Adds an entry without a position of its own after the last entry. Later children of the last entry are attached to the new
   * entry.
   */
  addBehind(key: string, time: unknown, body: EntryBody, id?: string): Draft {
    const { tip } = this;
    const draft = this.add(key, tip, time, body, id);
    this.#behind.set(tip, draft);
    return draft;
  }

  /** Adds data that a message cannot contain. `kind` is the part of the custom type after the program's name. */
  keep(key: string, parent: Draft | undefined, time: unknown, kind: string, data: unknown): Draft {
    this.counts.kept++;
    return this.add(key, parent, time, makeCustom(`${this.#origin.source}.${kind}`, data));
  }

  /** Keeps data without a position of its own, like `addBehind`. */
  keepBehind(key: string, time: unknown, kind: string, data: unknown): void {
    this.counts.kept++;
    this.addBehind(key, time, makeCustom(`${this.#origin.source}.${kind}`, data));
  }

  /** Returns the entry with the given id; undefined if there is none. */
  findDraft(id: string): Draft | undefined {
    return this.#byId.get(id);
  }

  /** Returns a key with the number of its earlier uses appended, for records that may be equal to other records. */
  numbered(key: string): string {
    const times = this.#uses.get(key) ?? 0;
    this.#uses.set(key, times + 1);
    return times === 0 ? key : `${key} ${times}`;
  }

  /** Names the session. `isUsers` states whether the user chose the name. */
  addName(key: string, name: string, isUsers = false): void {
    const { id } = this.addBehind(key, undefined, { type: "session_info", name });
    if (!isUsers) this.#madeNameIds.add(id);
  }

  /** Returns the entry, or the last entry that `addBehind` added after it. */
  lastBehind(draft: Draft | undefined): Draft {
    let last = draft ?? this.tip;
    for (let next = this.#behind.get(last); next !== undefined; next = this.#behind.get(last)) last = next;
    return last;
  }

  /** Removes an entry. Returns false if it is not the last entry, because other entries may be its children. */
  takeBack(draft: Draft): boolean {
    if (this.tip !== draft) return false;
    this.#entries.pop();
    this.#byId.delete(draft.id);
    this.#attempts.clear();
    this.#withdrawnIds.add(draft.id);
    this.counts.entries--;
    if (isStoredMessage(draft["message"])) this.#count(draft["message"], -1);
    return true;
  }

  /** Records the id of an entry that a shorter version of the same records would yield. */
  withdraw(id: string): void {
    this.#withdrawnIds.add(id);
  }

  /**
   * Records that entries are copies from a sessiontree session.
   *
   * @param from - Number of entries before the copies. By default, all entries so far are copies.
   */
  continueSession({ sessionId, leafId }: ContinuedSession, from = 1): void {
    this.#continued = { sessionId, leafId };
    for (const draft of this.#entries.slice(Math.max(1, from))) this.#copies.add(draft);
  }

  /**
   * Records that all entries so far were copied from a sessiontree session. If that session is missing, the calls are counted
   * here.
   */
  copySession(session: ContinuedSession): void {
    this.#isCopy = true;
    this.continueSession(session);
  }

  /** Adds an entry that marks where the program would continue, unless that is the last entry. Undefined means the beginning. */
  markLeaf(leaf: Draft | undefined): void {
    const last = this.lastBehind(leaf ?? this.#entries[0]);
    if (last === this.tip) return;
    this.add(makeLeafMarkerKey(last.id), last, undefined, makeCustom(LEAF_CUSTOM_TYPE));
  }

  /** Counts omitted records. */
  drop(reason: string, times = 1): void {
    if (times === 0) return;
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + times);
    this.counts.dropped += times;
  }

  /**
   * Finishes the session. No entries may be added afterward. Records that were neither kept nor dropped are counted as mapped.
   */
  finish(): ImportedSession {
    this.counts.mapped = this.counts.records - this.counts.kept - this.counts.dropped;
    const { source, sourceId, sourcePath, id = sourceId } = this.#origin;
    const continued = this.#finishCopies();
    const entries: AnySessionEntry[] = this.#entries;
    return {
      source,
      sourceId,
      sourcePath,
      header: {
        type: "session",
        version: CURRENT_SESSION_VERSION,
        id: makeSessionId(id),
        timestamp: this.#startedAt,
        cwd: this.#cwd,
      },
      entries,
      leafId: entries.at(-1)?.id ?? null,
      parent: this.#parent(),
      ...(continued !== undefined && { continued }),
      withdrawnIds: this.#withdrawnIds,
      madeNameIds: this.#madeNameIds,
      counts: this.counts,
      dropped: Object.fromEntries(this.#dropped),
      issues: this.issues,
    };
  }

  /** Removes the tokens of copies, because their calls are counted in the original session. */
  #finishCopies(): ContinuedOrigin | undefined {
    // A subagent's session may begin with a copy of its parent's history, but it is still a separate session.
    const isOwn = !this.#isCopy && this.#parent()?.relation === "subagent";
    if (this.#continued === undefined || isOwn) return undefined;
    this.#provenance.continued = this.#continued;
    for (const draft of this.#isCopy ? [] : this.#copies) {
      const { message } = draft;
      if (isStoredMessage(message) && message.role === "assistant") message.usage = toUsage();
      if (draft.type === "compaction" || draft.type === "branch_summary") delete draft["usage"];
    }
    const copiedIds = new Set(Array.from(this.#copies, ({ id }) => id));
    return { ...this.#continued, copiedIds, ...(this.#isCopy && { mustMatch: true }) };
  }

  #parent(): SourceParent | undefined {
    const { sourceId: own, startedBy = own, forkOf = own } = this.#origin;
    if (startedBy !== own) return { sourceId: startedBy, relation: "subagent" };
    return forkOf === own ? undefined : { sourceId: forkOf, relation: "fork" };
  }

  #makeId(key: string, wanted = makeEntryId(key)): string {
    let id = wanted;
    let attempt = this.#attempts.get(key) ?? 1;
    for (; this.#byId.has(id); attempt++) id = inventEntryId(key, 0, attempt);
    if (attempt > 1) this.#attempts.set(key, attempt);
    return id;
  }

  #count({ role }: AgentMessage, times = 1): void {
    if (role === "user") this.counts.userMessages += times;
    else if (role === "assistant") this.counts.assistantMessages += times;
    else if (role === "toolResult") this.counts.toolResults += times;
  }
}
