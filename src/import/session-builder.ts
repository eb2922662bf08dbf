import { isStoredMessage } from "../context/entry-fields.ts";
import { type AnySessionEntry, LEAF_CUSTOM_TYPE, type UnknownEntry } from "../schema/entry.ts";
import { inventEntryId } from "../schema/ids.ts";
import { IMPORT_CUSTOM_TYPE, sourceKeyOf } from "../schema/import-origin.ts";
import type { SessionIssue } from "../schema/issue.ts";
import type { AgentMessage } from "../schema/message.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import {
  IMPORT_MAPPING,
  type ImportCounts,
  type ImportedSession,
  type ImportProvenance,
  NO_COUNTS,
  type SourceName,
  type SourceParent,
} from "./imported-session.ts";
import { isoTimeOf } from "./source-values.ts";

/** What the inputs of all importers have. */
interface ImportInput {
  readonly path?: string;
  readonly cwd?: string;
  readonly importedAt: string;
}

/** Source of a session's records. */
export interface SessionOrigin {
  readonly source: SourceName;
  readonly sourceId: string;
  /** Default: the path of the input. */
  readonly sourcePath?: string | undefined;
  readonly sourceVersion?: string | undefined;
  /** Id of the new session. Default: made from `sourceId`. */
  readonly id?: string;
  /** Default: the working directory of the input. */
  readonly cwd?: string | undefined;
  /** Start time of the session, as in the source. */
  readonly startedAt: unknown;
  readonly parent?: SourceParent | undefined;
}

/** An unfinished entry: its body may still change. */
export type Draft = UnknownEntry;

/** The body of an entry. */
export interface EntryBody {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Makes the body of a custom entry. */
export function custom(customType: string, data?: unknown): EntryBody {
  return { type: "custom", customType, ...(data !== undefined && { data }) };
}

/** A message without its time. */
type Untimed<M> = M extends unknown ? Omit<M, "timestamp"> : never;

/** Returns the key for the id of an entry that says which entry is the leaf. */
function leafMarkerKey(leafId: string): string {
  return `leaf ${leafId}`;
}

/** Tells whether an import made an entry to say which entry is the leaf. */
export function isLeafMarker({ id, parentId, customType }: UnknownEntry): boolean {
  return customType === LEAF_CUSTOM_TYPE && parentId !== null && id === entryIdOf(leafMarkerKey(parentId));
}

/** Derives the id of an entry from a key: for a UUID, its first eight characters. */
export function entryIdOf(key: string): string {
  return UUID_FRONT.test(key) && key.length === 36 ? key.slice(0, 8) : inventEntryId(key, 0, 0);
}

/** Makes an id that is safe in a file name: replaces invalid characters with dashes. */
export function sessionIdOf(sourceId: string): string {
  return sourceId.replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[._-]+|[._-]+$/g, "") || "unnamed";
}

/** Time of sessions without one: sorts them before all others. */
export const NO_TIME = "1970-01-01T00:00:00.000Z";

const UUID_FRONT = /^[0-9a-f]{8}-/;

/**
 * Makes a session from another program's records, entry by entry.
 *
 * Ids are derived from keys, so that the same records yield the same entries. An entry without a time gets that of the
 * entry made before it.
 */
export class SessionBuilder {
  readonly counts: ImportCounts = { ...NO_COUNTS };
  readonly issues: SessionIssue[] = [];
  readonly #origin: SessionOrigin;
  readonly #input: ImportInput;
  readonly #startedAt: string;
  readonly #entries: Draft[] = [];
  readonly #ids = new Set<string>();
  /** How many ids of a key are taken, if it came before: damaged files repeat one thousands of times. */
  readonly #attempts = new Map<string, number>();
  /** For an entry, the one without its own position that was put after it: what follows the first follows the second. */
  readonly #behind = new Map<Draft, Draft>();
  readonly #dropped = new Map<string, number>();
  readonly #withdrawnIds = new Set<string>();
  readonly #madeNameIds = new Set<string>();
  #time: string;

  constructor(input: ImportInput, origin: SessionOrigin) {
    this.#input = input;
    this.#origin = { sourcePath: input.path, ...origin };
    this.#startedAt = isoTimeOf(origin.startedAt) ?? NO_TIME;
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
    this.add(sourceKeyOf(origin), null, this.#startedAt, custom(IMPORT_CUSTOM_TYPE, data));
  }

  /** The last entry of the conversation; if there is none yet, the one that says where the session is from. */
  get tip(): Draft {
    const last = this.#entries.at(-1);
    if (last === undefined) throw new Error("The first entry is made by the constructor.");
    return last;
  }

  /**
   * Adds an entry. A compaction that names no first kept entry gets its own id for that: it keeps none.
   *
   * @param key - Determines its id: a UUID gives its first eight characters, if they are free.
   * @param parent - Undefined for an entry that begins the conversation, even anew; null for a root.
   * @param time - As in the source.
   * @param id - Id in the source, kept as it is if it is free.
   */
  add(key: string, parent: Draft | undefined | null, time: unknown, body: EntryBody, id?: string): Draft {
    const timestamp = isoTimeOf(time) ?? this.#time;
    const { type, ...fields } = body;
    const draft: Draft = {
      type,
      id: this.#makeId(key, id),
      parentId: parent === null ? null : this.lastBehind(parent ?? this.#entries[0]).id,
      timestamp,
      ...fields,
    };
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

  /** Adds a message, and sets its time to that of the entry. */
  addMessage(key: string, parent: Draft | undefined, time: unknown, untimed: Untimed<AgentMessage>): Draft {
    const timestamp = isoTimeOf(time) ?? this.#time;
    const message: AgentMessage = Object.assign(untimed, { timestamp: Date.parse(timestamp) });
    return this.add(key, parent, timestamp, { type: "message", message });
  }

  /** Adds an entry without its own position after the last one; what would follow that one follows this one. */
  addBehind(key: string, time: unknown, body: EntryBody, id?: string): Draft {
    const { tip } = this;
    const draft = this.add(key, tip, time, body, id);
    this.#behind.set(tip, draft);
    return draft;
  }

  /**
   * Names the session.
   *
   * @param isUsers - Whether the user gave the name, rather than the program.
   */
  addName(key: string, name: string, isUsers = false): void {
    const { id } = this.addBehind(key, undefined, { type: "session_info", name });
    if (!isUsers) this.#madeNameIds.add(id);
  }

  /** Returns the entry itself, or the last one that was put after it. */
  lastBehind(draft: Draft | undefined): Draft {
    let last = draft ?? this.tip;
    for (let next = this.#behind.get(last); next !== undefined; next = this.#behind.get(last)) last = next;
    return last;
  }

  /**
   * Removes the last entry.
   *
   * @returns False if it is not the last one, because other entries may be attached to it.
   */
  takeBack(draft: Draft): boolean {
    if (this.tip !== draft) return false;
    this.#entries.pop();
    this.#ids.delete(draft.id);
    this.#attempts.clear();
    this.#withdrawnIds.add(draft.id);
    this.counts.entries--;
    if (isStoredMessage(draft["message"])) this.#count(draft["message"], -1);
    return true;
  }

  /** Notes the id of an entry that a shorter version of the same records yields. */
  withdraw(id: string): void {
    this.#withdrawnIds.add(id);
  }

  /** Adds where the program would continue, if that is not the last entry; undefined for the beginning. */
  markLeaf(leaf: Draft | undefined): void {
    const last = this.lastBehind(leaf ?? this.#entries[0]);
    if (last === this.tip) return;
    this.add(leafMarkerKey(last.id), last, undefined, custom(LEAF_CUSTOM_TYPE));
  }

  /** Counts records that are left out. */
  drop(reason: string, times = 1): void {
    if (times === 0) return;
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + times);
    this.counts.dropped += times;
  }

  /** Finishes the session: nothing may be added after this. What was neither kept nor dropped counts as mapped. */
  finish(): ImportedSession {
    this.counts.mapped = this.counts.records - this.counts.kept - this.counts.dropped;
    const { source, sourceId, sourcePath, id = sourceId, cwd = this.#input.cwd ?? "", parent } = this.#origin;
    const entries: AnySessionEntry[] = this.#entries;
    return {
      source,
      sourceId,
      sourcePath,
      header: {
        type: "session",
        version: CURRENT_SESSION_VERSION,
        id: sessionIdOf(id),
        timestamp: this.#startedAt,
        cwd,
      },
      entries,
      leafId: entries.at(-1)?.id ?? null,
      parent,
      withdrawnIds: this.#withdrawnIds,
      madeNameIds: this.#madeNameIds,
      counts: this.counts,
      dropped: Object.fromEntries(this.#dropped),
      issues: this.issues,
    };
  }

  #makeId(key: string, wanted = entryIdOf(key)): string {
    let id = wanted;
    let attempt = this.#attempts.get(key) ?? 1;
    for (; this.#ids.has(id); attempt++) id = inventEntryId(key, 0, attempt);
    if (attempt > 1) this.#attempts.set(key, attempt);
    this.#ids.add(id);
    return id;
  }

  #count({ role }: AgentMessage, times = 1): void {
    if (role === "user") this.counts.userMessages += times;
    else if (role === "assistant") this.counts.assistantMessages += times;
    else if (role === "toolResult") this.counts.toolResults += times;
  }
}
