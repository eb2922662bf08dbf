import type { AnySessionEntry, ContextEditEntry, SessionEntry } from "../format/entry.ts";
import type { AgentMessage } from "../format/message.ts";
import { type ReadBlob, withBlobImages } from "./blob-images.ts";
import { toRecord } from "./entry-fields.ts";
import type { EntryPath } from "./entry-path.ts";
import { projectSelectedEntry } from "./project-entry.ts";
import type { SelectionIssue } from "./select-entries.ts";
import {
  PathProjection,
  type ProjectEntry,
  type SessionContext,
  type SessionProjection,
  type SettingsFallback,
} from "./session-context.ts";

/** The cached context of a path. Returns snapshots that share message objects. */
export interface CachedContext {
  /** What is wrong with the path's compaction, if anything. */
  readonly issue: SelectionIssue | undefined;
  /** Returns the selected entries. */
  contextEntries(): SessionEntry[];
  /** Returns the projection. */
  projection(fallback?: SettingsFallback): SessionProjection;
  /** Returns the context. */
  context(fallback?: SettingsFallback): SessionContext;
}

/** The messages of an entry, and what they were made with. */
interface MadeMessages {
  readonly messages: AgentMessage[];
  readonly edit: ContextEditEntry | undefined;
  readonly keepsTail: boolean | undefined;
}

/**
 * Caches the projection of the path to the leaf, so that a turn costs only what it adds.
 *
 * The owner extends it after every append at the leaf, and clears it when the leaf moves in any other way.
 */
export class ContextCache {
  #projection: PathProjection | undefined;
  /** Survives rebuilding, so that a message stays the same object for as long as its entry does. */
  readonly #made = new WeakMap<AnySessionEntry, MadeMessages>();
  readonly #readBlob: ReadBlob | undefined;

  /** @param readBlob - Reads images that entries refer to. Default: finds none. */
  constructor(readBlob?: ReadBlob) {
    this.#readBlob = readBlob;
  }

  /**
   * Returns the context of the path, and builds it if necessary.
   *
   * @param path - Returns the path root → leaf; called only to build the context.
   * @returns A live view: use it at once.
   * @remarks Cost: O(1); that of `projectPath` after `clear`, a compaction or a context edit.
   */
  get(path: () => EntryPath): CachedContext {
    this.#projection ??= new PathProjection(path(), this.#project);
    return this.#projection;
  }

  /**
   * Adds an entry that was appended at the leaf.
   *
   * @remarks Cost: O(1). A compaction or a context edit clears the cache, because it changes what is before it.
   */
  extend(entry: AnySessionEntry): void {
    if (this.#projection?.extend(entry) === false) this.clear();
  }

  /** Clears the cache after the leaf moved. */
  clear(): void {
    this.#projection = undefined;
  }

  readonly #project: ProjectEntry = (entry, edit, keepsTail) => {
    const made = this.#made.get(entry);
    if (made !== undefined && made.edit === edit && made.keepsTail === keepsTail) return made.messages;
    const projected = projectSelectedEntry(entry, edit, keepsTail);
    const messages = projected.map((message) => withBlobImages(message, this.#readBlob));
    const isStored = messages.length === 0 || messages[0] === toRecord(entry)["message"];
    if (!isStored) this.#made.set(entry, { messages, edit, keepsTail });
    return messages;
  };
}
