import { ARRAY, assertArgument } from "../format/arguments.ts";
import {
  type AnySessionEntry,
  asSessionEntries,
  asSessionEntry,
  type CompactionEntry,
  type ContextEditEntry,
  type SessionEntry,
} from "../format/entry.ts";
import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import type { AgentMessage } from "../format/message.ts";
import { toRecord } from "./entry-fields.ts";
import { type EntryPath, makeEntryPath } from "./entry-path.ts";
import { readLateDetails, withLateDetails } from "./late-details.ts";
import { findLeafPath } from "./leaf-path.ts";
import {
  findModel,
  findSettings,
  findThinkingLevel,
  type ModelChoice,
  type SettingsFallback,
} from "./path-settings.ts";
import { isContextEdit, projectSelectedEntry } from "./project-entry.ts";
import { RESET_TYPE, type SelectedEntries, type SelectionIssue, selectEntries } from "./select-entries.ts";

/** A model's context at a leaf, and the settings in effect. */
export interface SessionContext {
  messages: AgentMessage[];
  /** `"off"` if nothing on the path sets it. */
  thinkingLevel: string;
  /** Null if nothing on the path sets a model. */
  model: ModelChoice | null;
}

/** Entry and the messages that it contributes to a context. */
export interface ProjectedSessionEntry {
  sourceEntry: SessionEntry;
  /** Empty if the entry is selected but contributes no messages. */
  messages: AgentMessage[];
}

/** Context that includes the source entries of its messages. */
export interface SessionProjection extends SessionContext {
  /** Selected entries, in the order of the context. */
  entries: ProjectedSessionEntry[];
}

type Settings = Pick<SessionContext, "thinkingLevel" | "model">;

/** Maximum number of messages to copy immediately. A plain object is easier to inspect than one that copies on demand. */
const COPIED_AT_ONCE = 1000;

/** Returns the messages of one entry: `projectSelectedEntry`, or a caching version of it. */
export type ProjectEntry = typeof projectSelectedEntry;

/**
 * Projection of a path. Can be extended as the path grows.
 *
 * The same code builds and extends a projection, so that the results cannot differ. Its methods return snapshots.
 */
export class PathProjection {
  /** Issue with the path's compaction, if any. */
  readonly issue: SelectionIssue | undefined;
  readonly #selected: AnySessionEntry[] = [];
  readonly #messages: AgentMessage[] = [];
  /** For each selected entry, the number of messages up to and including its own messages. */
  readonly #ends: number[] = [];
  /** Selected entries with their messages, created on demand. */
  readonly #projected: ProjectedSessionEntry[] = [];
  readonly #edits = new Map<string, ContextEditEntry>();
  /** Details that later entries add to messages, keyed by the message's entry id. */
  readonly #lateDetails = new Map<string, JsonRecord>();
  readonly #project: ProjectEntry;
  #thinkingLevel: string;
  #model: ModelChoice | null;

  /** @param fallback - Settings to use if the path does not specify any. Default: `"off"` and null. */
  constructor(
    path: EntryPath,
    fallback: SettingsFallback = {},
    project: ProjectEntry = projectSelectedEntry,
  ) {
    this.#project = project;
    // Nearly all paths contain neither type, so all their entries are selected.
    const isSelective = path.mayHold("compaction") || path.mayHold(RESET_TYPE);
    const selected = isSelective ? selectEntries(path) : undefined;
    this.issue = selected?.issue;
    const entries = selected === undefined ? path.entriesAt() : readSelected(path, selected);
    if (path.mayHold("context_edit")) this.#noteEdits(entries);
    if (path.mayHold("custom")) this.#readLateDetails(entries);
    this.#addAll(entries, selected);
    const { thinkingLevel = fallback.thinkingLevel, model = fallback.model } = findSettings(path);
    this.#thinkingLevel = thinkingLevel ?? "off";
    this.#model = model ?? null;
  }

  /**
   * Adds an entry that was appended at the end of the path.
   *
   * @returns False if the entry changes earlier content. The caller must then build a new projection.
   * @remarks Cost: O(1).
   */
  extend(entry: AnySessionEntry): boolean {
    if (entry.type === "compaction" || entry.type === "context_edit" || entry.type === RESET_TYPE)
      return false;
    if (entry.type === "custom" && readLateDetails(entry) !== undefined) return false;
    const { role } = this.#add(entry, this.#edits.size === 0 ? undefined : this.#edits.get(entry.id)) ?? {};
    // Messages with these roles set neither the thinking level nor the model.
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
  context(): SessionContext {
    const settings = this.#settings();
    const messages = this.#messages;
    if (messages.length <= COPIED_AT_ONCE) return { messages: messages.slice(), ...settings };
    return copyOnDemand(messages, settings);
  }

  /** Returns the current projection; `entries` and `messages` are copies. */
  projection(): SessionProjection {
    for (let i = this.#projected.length; i < this.#selected.length; i++)
      this.#projected.push(this.#entryAt(i));
    const entries = this.#projected.slice();
    return { entries, messages: this.#messages.slice(), ...this.#settings() };
  }

  #settings(): Settings {
    return {
      thinkingLevel: this.#thinkingLevel,
      model: this.#model === null ? null : { ...this.#model },
    };
  }

  #noteEdits(entries: readonly (AnySessionEntry | undefined)[]): void {
    for (const entry of entries) {
      if (entry !== undefined && isContextEdit(entry)) this.#edits.set(entry.targetId, entry);
    }
  }

  #addAll(entries: readonly (AnySessionEntry | undefined)[], selected: SelectedEntries | undefined): void {
    const [all, messages, ends] = [this.#selected, this.#messages, this.#ends];
    const areEdited = this.#edits.size > 0;
    const areDetailed = this.#lateDetails.size > 0;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i];
      if (entry === undefined) continue;
      const edit = areEdited ? this.#edits.get(entry.id) : undefined;
      const details = areDetailed && entry.type === "message" ? this.#lateDetails.get(entry.id) : undefined;
      const message = edit === undefined && details === undefined ? getStoredMessage(entry) : undefined;
      if (message !== undefined) {
        all.push(entry);
        ends.push(messages.push(message));
      } else if (details !== undefined)
        this.#addMessages(
          entry,
          this.#project(entry, edit).map((message) => withLateDetails(message, details)),
        );
      else if (entry.type !== "compaction") this.#addMessages(entry, this.#project(entry, edit));
      else if (selected !== undefined && selected.indices[i] === selected.compactionIndex)
        this.#addMessages(entry, this.#project(entry, edit, selected.keepsTail));
      else this.#addMessages(entry, []);
    }
  }

  #readLateDetails(entries: readonly (AnySessionEntry | undefined)[]): void {
    for (const entry of entries) {
      const late = entry === undefined ? undefined : readLateDetails(entry);
      if (late !== undefined) this.#lateDetails.set(late.targetId, late.details);
    }
  }

  #entryAt(i: number): ProjectedSessionEntry {
    const [entry, from, end] = [this.#selected[i], this.#ends[i - 1] ?? 0, this.#ends[i]];
    if (entry === undefined) throw new RangeError(`there is no selected entry ${i}`);
    return { sourceEntry: asSessionEntry(entry), messages: this.#messages.slice(from, end) };
  }

  /** Adds an entry that is not a compaction. Returns its message if it was added as stored. */
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

/** Reads the selected entries that were not parsed during selection, in one call. */
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
 * Returns a context that copies its messages on first access. Because the array only grows, the copy reflects the time of this
 * call.
 *
 * Copying 100,000 messages takes much longer than an append, and some callers need only the settings.
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
 * Returns the messages of the context at the end of a path, with their source entries.
 *
 * @param path - The path root → leaf; empty for the position before the first entry.
 * @param fallback - Settings to use if the path does not specify any. Default: `"off"` and null.
 * @remarks Cost: O(path) head reads, plus the selected bodies. Source: docs/format.md#context
 */
export function projectPath(path: EntryPath, fallback?: SettingsFallback): SessionProjection {
  return new PathProjection(path, fallback).projection();
}

/**
 * Returns the entries that make up the context at a leaf, in context order.
 *
 * @param entries - A session's entries in file order. Headers are skipped.
 * @param leafId - Id of the leaf. If undefined or unknown, the last entry is used; null means the position before the first
 * entry.
 * @param byId - Map of entries by id, if available.
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
 * Returns the messages of the context at a leaf, with the source entry of each.
 *
 * @param entries - A session's entries in file order. Headers are skipped.
 * @param leafId - Id of the leaf. If undefined or unknown, the last entry is used; null means the position before the first
 * entry.
 * @param byId - Map of entries by id, if available.
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
 * Returns the messages, thinking level, and model at a leaf.
 *
 * @param entries - A session's entries in file order. Headers are skipped.
 * @param leafId - Id of the leaf. If undefined or unknown, the last entry is used; null means the position before the first
 * entry.
 * @param byId - Map of entries by id, if available.
 * @remarks Cost: O(entries), or O(path) with `byId`. Source: docs/format.md#context
 */
export function buildSessionContext(
  entries: readonly (AnySessionEntry | SessionHeader)[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, AnySessionEntry>,
): SessionContext {
  return projectLeaf(entries, leafId, byId).context();
}

/** Returns the last compaction in an array of entries, or null if there is none. */
export function getLatestCompactionEntry(
  entries: readonly (AnySessionEntry | SessionHeader)[],
): CompactionEntry | null {
  assertArgument("entries", entries, ARRAY);
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

/**
 * Returns the message of an entry if contexts without edits contain it as stored. This is true of nearly all messages.
 *
 * @returns Undefined if the message must be converted by `projectSelectedEntry`, or if an image may be stored outside the
 *   session.
 */
function getStoredMessage(entry: AnySessionEntry): AgentMessage | undefined {
  const message = entry.type === "message" && "message" in entry ? entry.message : undefined;
  return isAsStored(message) ? message : undefined;
}

function isAsStored(message: unknown): message is AgentMessage {
  if (typeof message !== "object" || message === null) return false;
  if (!("role" in message) || !("content" in message)) return false;
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "toolResult") return false;
  if (!Array.isArray(content)) return typeof content === "string" && role !== "assistant";
  const blocks: readonly unknown[] = content;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i];
    if (typeof block === "object" && block !== null && "type" in block && block.type === "image")
      return false;
  }
  return true;
}
