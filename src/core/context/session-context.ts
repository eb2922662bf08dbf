import {
  type AnySessionEntry,
  asSessionEntries,
  asSessionEntry,
  type CompactionEntry,
  type ContextEditEntry,
  type SessionEntry,
} from "../format/entry.ts";
import type { SessionHeader } from "../format/header.ts";
import type { AgentMessage } from "../format/message.ts";
import { toRecord } from "./entry-fields.ts";
import { type EntryPath, makeEntryPath } from "./entry-path.ts";
import { findLeafPath } from "./leaf-path.ts";
import { findModel, findSettings, findThinkingLevel, type ModelChoice } from "./path-settings.ts";
import { getStoredMessage, isContextEdit, projectSelectedEntry } from "./project-entry.ts";
import { RESET_TYPE, type SelectedEntries, type SelectionIssue, selectEntries } from "./select-entries.ts";

/** What a model sees at a leaf, and the model. */
export interface SessionContext {
  messages: AgentMessage[];
  /** `"off"` if nothing on the path sets it. */
  thinkingLevel: string;
  /** Null if nothing on the path names a model. */
  model: ModelChoice | null;
}

/** What one entry contributes to a context. */
export interface ProjectedSessionEntry {
  sourceEntry: SessionEntry;
  /** Empty if the entry is selected and contributes nothing. */
  messages: AgentMessage[];
}

/** A context together with the entries that its messages come from. */
export interface SessionProjection extends SessionContext {
  /** The selected entries in the order of the context. */
  entries: ProjectedSessionEntry[];
}

/** Settings that apply if the path names none, such as those of a header. */
export interface SettingsFallback {
  readonly thinkingLevel?: string | undefined;
  readonly model?: ModelChoice | null | undefined;
}

type Settings = Pick<SessionContext, "thinkingLevel" | "model">;

/**
 * Number of messages up to which a copy is cheap. A plain object is easier to inspect than one that copies on demand.
 */
const COPIED_AT_ONCE = 1000;

/** Returns the messages of one entry: `projectSelectedEntry`, or a caching version of it. */
export type ProjectEntry = typeof projectSelectedEntry;

/**
 * The projection of one path, which grows with the path.
 *
 * The same code builds and extends it, so that the results cannot differ. Returns snapshots.
 */
export class PathProjection {
  /** What is wrong with the compaction of the path, if anything. */
  readonly issue: SelectionIssue | undefined;
  readonly #selected: AnySessionEntry[] = [];
  readonly #messages: AgentMessage[] = [];
  /** For each selected entry, how many messages there are up to it and with it. */
  readonly #ends: number[] = [];
  /** The selected entries with their messages; made when they are asked for. */
  readonly #projected: ProjectedSessionEntry[] = [];
  readonly #edits = new Map<string, ContextEditEntry>();
  readonly #project: ProjectEntry;
  #thinkingLevel: string | undefined;
  #model: ModelChoice | undefined;

  constructor(path: EntryPath, project: ProjectEntry = projectSelectedEntry) {
    this.#project = project;
    const selected = selectEntries(path);
    this.issue = selected.issue;
    this.#addAll(path, selected);
    const settings = findSettings(path);
    this.#thinkingLevel = settings.thinkingLevel;
    this.#model = settings.model;
  }

  /**
   * Adds an entry that was appended at the end of the path.
   *
   * @returns False if the entry changes what is before it; then build a new projection.
   * @remarks Cost: O(1).
   */
  extend(entry: AnySessionEntry): boolean {
    if (entry.type === "compaction" || entry.type === "context_edit" || entry.type === RESET_TYPE)
      return false;
    const { role } = this.#add(entry, this.#edits.size === 0 ? undefined : this.#edits.get(entry.id)) ?? {};
    // They set neither.
    if (role === "user" || role === "toolResult") return true;
    this.#thinkingLevel = findThinkingLevel(entry) ?? this.#thinkingLevel;
    this.#model = findModel(entry) ?? this.#model;
    return true;
  }

  /** Returns a copy of the selected entries. */
  contextEntries(): SessionEntry[] {
    return asSessionEntries(this.#selected.slice());
  }

  /** Returns the current context. */
  context(fallback: SettingsFallback = {}): SessionContext {
    const settings = this.#settings(fallback);
    const messages = this.#messages;
    if (messages.length <= COPIED_AT_ONCE) return { messages: messages.slice(), ...settings };
    return copyOnDemand(messages, settings);
  }

  /** Returns the current projection; `entries` and `messages` are copies. */
  projection(fallback: SettingsFallback = {}): SessionProjection {
    for (let i = this.#projected.length; i < this.#selected.length; i++)
      this.#projected.push(this.#entryAt(i));
    const entries = this.#projected.slice();
    return { entries, messages: this.#messages.slice(), ...this.#settings(fallback) };
  }

  #settings(fallback: SettingsFallback): Settings {
    const model = this.#model ?? fallback.model ?? null;
    return {
      thinkingLevel: this.#thinkingLevel ?? fallback.thinkingLevel ?? "off",
      model: model === null ? null : { ...model },
    };
  }

  #addAll(path: EntryPath, selected: SelectedEntries): void {
    const { indices, compactionIndex, keepsTail } = selected;
    const entries = readSelected(path, selected);
    if (path.mayHold("context_edit")) {
      for (const entry of entries) {
        if (entry !== undefined && isContextEdit(entry)) this.#edits.set(entry.targetId, entry);
      }
    }
    const [all, messages, ends, areEdited] = [
      this.#selected,
      this.#messages,
      this.#ends,
      this.#edits.size > 0,
    ];
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i];
      if (entry === undefined) continue;
      const edit = areEdited ? this.#edits.get(entry.id) : undefined;
      const message = edit === undefined ? getStoredMessage(entry) : undefined;
      if (message !== undefined) {
        all.push(entry);
        ends.push(messages.push(message));
      } else if (entry.type !== "compaction") this.#addMessages(entry, this.#project(entry, edit));
      else if (indices[i] === compactionIndex)
        this.#addMessages(entry, this.#project(entry, edit, keepsTail));
      else this.#addMessages(entry, []);
    }
  }

  #entryAt(i: number): ProjectedSessionEntry {
    const [entry, from, end] = [this.#selected[i], this.#ends[i - 1] ?? 0, this.#ends[i]];
    if (entry === undefined) throw new RangeError(`there is no selected entry ${i}`);
    return { sourceEntry: asSessionEntry(entry), messages: this.#messages.slice(from, end) };
  }

  /** Adds an entry that is no compaction; returns its message if that is added as it is stored. */
  #add(entry: AnySessionEntry, edit: ContextEditEntry | undefined): AgentMessage | undefined {
    const message = edit === undefined ? getStoredMessage(entry) : undefined;
    if (message === undefined) {
      this.#addMessages(entry, this.#project(entry, edit));
      return undefined;
    }
    this.#selected.push(entry);
    this.#ends.push(this.#messages.push(message));
    return message;
  }

  #addMessages(entry: AnySessionEntry, messages: readonly AgentMessage[]): void {
    this.#selected.push(entry);
    for (const message of messages) this.#messages.push(message);
    this.#ends.push(this.#messages.length);
  }
}

/** Reads together the selected entries that choosing has not read. */
function readSelected(
  path: EntryPath,
  { indices, parsed }: SelectedEntries,
): (AnySessionEntry | undefined)[] {
  if (parsed.size === 0) return path.entriesAt(indices);
  const rest = path.entriesAt(indices.filter((index) => !parsed.has(index)));
  let next = 0;
  return indices.map((index) => (parsed.has(index) ? parsed.get(index) : rest[next++]));
}

/**
 * Makes a context that copies its messages on first access. Because the array only grows, they are those of now.
 *
 * Copying 100,000 messages takes far longer than an append, and some callers only need the settings.
 */
function copyOnDemand(growing: readonly AgentMessage[], settings: Settings): SessionContext {
  const length = growing.length;
  let copy: AgentMessage[] | undefined;
  return {
    get messages() {
      copy ??= growing.slice(0, length);
      return copy;
    },
    set messages(messages) {
      copy = messages;
    },
    ...settings,
  };
}

/**
 * Returns the messages that a model sees at the end of a path, and the entries that they come from.
 *
 * @param path - The path root → leaf; empty for the place before the first entry.
 * @param fallback - Settings if the path names none. Default: `"off"` and null.
 * @remarks Cost: O(path) in heads, plus the selected bodies. Source: docs/format.md#context
 */
export function projectPath(path: EntryPath, fallback?: SettingsFallback): SessionProjection {
  return new PathProjection(path).projection(fallback);
}

/**
 * Returns the entries that make up the context at a leaf, in the order of the context.
 *
 * @param entries - A session's entries in file order; a header among them is passed over.
 * @param leafId - Undefined or unknown: the last entry; null: before the first.
 * @param byId - The entries by id, if the caller has them.
 * @returns A new array; empty before the first entry.
 * @remarks Cost: O(entries), or O(path) with `byId`. Source: docs/format.md#context
 */
export function buildContextEntries(
  entries: readonly (AnySessionEntry | SessionHeader)[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, AnySessionEntry>,
): SessionEntry[] {
  return projectLeaf(entries, leafId, byId).contextEntries();
}

/**
 * Returns the messages that a model sees at a leaf, and for each the entry that it comes from.
 *
 * @param entries - A session's entries in file order; a header among them is passed over.
 * @param leafId - Undefined or unknown: the last entry; null: before the first.
 * @param byId - The entries by id, if the caller has them.
 * @remarks Cost: O(entries), or O(path) with `byId`. Source: docs/format.md#context
 */
export function buildSessionProjection(
  entries: readonly (AnySessionEntry | SessionHeader)[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, AnySessionEntry>,
): SessionProjection {
  return projectLeaf(entries, leafId, byId).projection();
}

/**
 * Returns the messages, thinking level and model at a leaf.
 *
 * @param entries - A session's entries in file order; a header among them is passed over.
 * @param leafId - Undefined or unknown: the last entry; null: before the first.
 * @param byId - The entries by id, if the caller has them.
 * @remarks Cost: O(entries), or O(path) with `byId`. Source: docs/format.md#context
 */
export function buildSessionContext(
  entries: readonly (AnySessionEntry | SessionHeader)[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, AnySessionEntry>,
): SessionContext {
  return projectLeaf(entries, leafId, byId).context();
}

/** Returns the last compaction in an array of entries, or null if it holds none. */
export function getLatestCompactionEntry(
  entries: readonly (AnySessionEntry | SessionHeader)[],
): CompactionEntry | null {
  return entries.findLast(isCompaction) ?? null;
}

function isCompaction(entry: AnySessionEntry | SessionHeader): entry is CompactionEntry {
  return toRecord(entry)["type"] === "compaction";
}

function projectLeaf(
  entries: readonly (AnySessionEntry | SessionHeader)[],
  leafId: string | null | undefined,
  byId: ReadonlyMap<string, AnySessionEntry> | undefined,
): PathProjection {
  return new PathProjection(makeEntryPath(findLeafPath(entries, leafId, byId)));
}
