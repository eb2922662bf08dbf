import type { AnySessionEntry, ContextEditEntry } from "../format/entry.ts";
import type { AgentMessage } from "../format/message.ts";
import { type ReadBlob, withBlobImages } from "./blob-images.ts";
import { toRecord } from "./entry-fields.ts";
import { projectSelectedEntry } from "./project-entry.ts";
import type { ProjectEntry } from "./session-context.ts";

/** Messages of an entry, and the options used to build them. */
interface MadeMessages {
  readonly messages: AgentMessage[];
  readonly edit: ContextEditEntry | undefined;
  readonly keepsTail: boolean | undefined;
}

/**
 * Returns a caching version of `projectSelectedEntry`. For the same entry and edit, it returns the same messages in every
 * context, as long as the entry is referenced.
 *
 * @param readBlob - Reads images that entries reference. Default: finds none.
 */
export function cachedProjection(readBlob?: ReadBlob): ProjectEntry {
  const made = new WeakMap<AnySessionEntry, MadeMessages>();
  return (entry, edit, keepsTail) => {
    const known = made.get(entry);
    if (known !== undefined && known.edit === edit && known.keepsTail === keepsTail) return known.messages;
    const projected = projectSelectedEntry(entry, edit, keepsTail);
    const messages = projected.map((message) => withBlobImages(message, readBlob));
    const isStored = messages.length === 0 || messages[0] === toRecord(entry)["message"];
    if (!isStored) made.set(entry, { messages, edit, keepsTail });
    return messages;
  };
}
