import type { AnySessionEntry, ContextEditEntry, SessionEntry } from "../schema/entry.ts";
import type { AgentMessage } from "../schema/message.ts";
import { type ReadBlob, withBlobImages } from "./blob-images.ts";
import { fieldsOf } from "./entry-fields.ts";
import type { EntryPath } from "./entry-path.ts";
import { projectSelected } from "./project-entry.ts";
import type { SelectionIssue } from "./select-entries.ts";
import {
  PathProjection,
  type ProjectEntry,
  type SessionContext,
  type SessionProjection,
  type SettingsFallback,
} from "./session-context.ts";

/** What a cache holds of a path. Everything it gives is a snapshot; message objects are shared. */
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

/** Messages that were made from an entry, and what they were made with. */
interface MadeMessages {
  readonly messages: AgentMessage[];
  readonly edit: ContextEditEntry | undefined;
  readonly keepsTail: boolean | undefined;
}

/**
 * Keeps the projection of the path to the leaf, so that a turn costs what it adds and not what came before.
 *
 * The owner extends it after every append at the leaf, and clears it when the leaf moves in any other way.
 */
export class ContextCache {
  #projection: PathProjection | undefined;
  /** Survives rebuilding, so that a made message stays the same object for as long as its entry does. */
  readonly #made = new WeakMap<AnySessionEntry, MadeMessages>();
  readonly #readBlob: ReadBlob | undefined;

  /** @param readBlob - Gives images that entries refer to. Default: none is there. */
  constructor(readBlob?: ReadBlob) {
    this.#readBlob = readBlob;
  }

  /**
   * Returns the context of the path, which is built if it is not there.
   *
   * @param path - Gives the path root → leaf; called only if the context must be built.
   * @returns A live view: use it at once.
   * @remarks Cost: O(1), or that of `projectPath` after `clear`, a compaction or a context edit.
   */
  get(path: () => EntryPath): CachedContext {
    this.#projection ??= new PathProjection(path(), this.#project);
    return this.#projection;
  }

  /**
   * Takes in an entry that was appended at the leaf.
   *
   * @remarks Cost: O(1). A compaction or a context edit drops what is held: it changes what stands before it.
   */
  extend(entry: AnySessionEntry): void {
    if (this.#projection?.extend(entry) === false) this.clear();
  }

  /** Drops what is held: the leaf is elsewhere now. */
  clear(): void {
    this.#projection = undefined;
  }

  readonly #project: ProjectEntry = (entry, edit, keepsTail) => {
    const made = this.#made.get(entry);
    if (made !== undefined && made.edit === edit && made.keepsTail === keepsTail) return made.messages;
    const projected = projectSelected(entry, edit, keepsTail);
    const messages = projected.map((message) => withBlobImages(message, this.#readBlob));
    const isStored = messages.length === 0 || messages[0] === fieldsOf(entry)["message"];
    if (!isStored) this.#made.set(entry, { messages, edit, keepsTail });
    return messages;
  };
}
