import { fieldsOf, listOf } from "../../core/context/entry-fields.ts";
import type { AnySessionEntry, UnknownEntry } from "../../core/format/entry.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { REDACTED_TEXT, redactMessage } from "../../core/format/redact-entry.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";

/** Redacts what was redacted in an entry where a compaction behind it repeats it, to be sent again. */
export class RedactedCopies {
  readonly #contents: ReadonlySet<string>;

  /** @param redacted - The redacted entries, with what they held. */
  constructor(redacted: readonly AnySessionEntry[]) {
    const contentsOf = ({ message, content }: UnknownEntry) => contentsIn(fieldsOf(message ?? { content }));
    this.#contents = new Set(redacted.flatMap((entry) => contentsOf({ ...entry })));
  }

  /** Returns the entry itself, or one without the repeated messages, and without what its program keeps of them. */
  without(entry: AnySessionEntry): AnySessionEntry {
    if (this.#contents.size === 0 || !("retainedTail" in entry)) return entry;
    const tail = listOf(entry.retainedTail);
    const isCopy = (message: unknown) => contentsIn(fieldsOf(message)).some((one) => this.#contents.has(one));
    if (!tail.some(isCopy)) return entry;
    const { details: _, ...fields }: UnknownEntry = { ...entry };
    const retainedTail = tail.map((message) =>
      isJsonRecord(message) && isCopy(message) ? redactMessage(message, REDACTED_TEXT) : message,
    );
    return { ...fields, retainedTail };
  }
}

/** Returns the texts of a message, and the arguments of its calls. */
function contentsIn({ content, command, output }: { readonly [field: string]: unknown }): string[] {
  const blocks = Array.isArray(content) ? content.map(fieldsOf) : [];
  const inside = blocks.map(({ text, thinking, data, arguments: args }) => text ?? thinking ?? data ?? args);
  return [content, command, output, ...inside].flatMap((one) => {
    if (typeof one === "string") return one.trim() === "" ? [] : [one];
    return isJsonRecord(one) && Object.keys(one).length > 0 ? [encodeParsed(one)] : [];
  });
}
