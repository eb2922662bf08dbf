import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";

/** Number of entries to check with each addition, to drop those that were garbage-collected. */
const LOOKS_PER_ADD = 2;

interface Released {
  readonly entry: WeakRef<AnySessionEntry>;
  readonly message: WeakRef<JsonRecord> | undefined;
}

/**
 * Entries that have left the strong cache. An entry or its message can be found as long as a caller references it.
 *
 * @remarks Cost: O(1) per call, with memory for at most twice as many entries as are referenced.
 */
export class WeakCache {
  readonly #released = new Map<number, Released>();
  #looks = this.#released.entries();

  add(ordinal: number, entry: AnySessionEntry): void {
    const message = "message" in entry ? entry.message : undefined;
    this.#released.set(ordinal, {
      entry: new WeakRef(entry),
      message: isJsonRecord(message) ? new WeakRef(message) : undefined,
    });
    for (let i = 0; i < LOOKS_PER_ADD; i++) this.#dropNextIfGone();
  }

  /** Returns an entry if a caller references it. */
  entryAt(ordinal: number): AnySessionEntry | undefined {
    return this.#released.get(ordinal)?.entry.deref();
  }

  /** Returns the message of an entry if a caller references the message, even without the entry. */
  messageAt(ordinal: number): JsonRecord | undefined {
    return this.#released.get(ordinal)?.message?.deref();
  }

  /** Returns the ordinals of all entries, including some that were collected. */
  ordinals(): number[] {
    return [...this.#released.keys()];
  }

  #dropNextIfGone(): void {
    const { value, done } = this.#looks.next();
    if (done === true || value === undefined) {
      this.#looks = this.#released.entries();
      return;
    }
    const [ordinal, { entry, message }] = value;
    if (entry.deref() === undefined && message?.deref() === undefined) this.#released.delete(ordinal);
  }
}
