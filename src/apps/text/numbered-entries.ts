import type { ViewSource } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Entry and its ordinal; without the entry if its body is damaged. */
export interface NumberedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry | undefined;
}

const BATCH = 64;

/** Yields entries with their bodies, in the order of their ordinals, in small batches to limit memory use. */
export function* readNumberedEntries(
  session: Pick<ViewSource, "readEntries">,
  ordinals: Int32Array,
): Generator<NumberedEntry, void> {
  for (let start = 0; start < ordinals.length; start += BATCH) {
    const batch: NumberedEntry[] = [];
    const wanted = ordinals.subarray(start, start + BATCH);
    session.readEntries(wanted, (ordinal, entry) => batch.push({ ordinal, entry }));
    yield* batch;
  }
}
