import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { ExportedTrajectory } from "../../../interop/atif/export-atif.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";

/** What is exported, and how: a session that was read, and what the caller wants of it. */
export interface ExportSource {
  readonly session: SessionView;
  /** Ordinal of the entry at which the branch ends, or NONE. */
  readonly leaf: number;
  /** Whether everything is wanted: all branches, or every entry of a drawing. */
  readonly isFull: boolean;
  readonly withImages: boolean;
  /** How much of what tools and commands wrote is in the Markdown. */
  readonly results: ResultDetail;
  readonly atif?: AtifChoices;
  /** The document of ATIF, once it is made. */
  readonly exported?: ExportedTrajectory;
}

/** No results, results folded and shortened, or results and calls in full. */
export const RESULT_DETAILS = ["none", "folded", "full"] as const;

/** One of these. */
export type ResultDetail = (typeof RESULT_DETAILS)[number];

/** What the caller wants of a document of ATIF. */
export interface AtifChoices {
  /** Whether to export what the model sees instead of the whole branch. */
  readonly isContext?: boolean;
  /** Whether to store the session itself in the document. */
  readonly isLossless?: boolean;
  /** Folder for images, relative to the document. */
  readonly assets?: string;
  /** Sessions of subagents. */
  readonly subagents?: readonly SessionView[];
}

/** An entry and its ordinal; without the entry if its body is damaged. */
export interface NumberedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry | undefined;
}

const BATCH = 64;

/** Yields entries with their bodies, in the order of the ordinals, a few at a time, which takes little memory. */
export function* readNumberedEntries(
  session: SessionView,
  ordinals: Int32Array,
): Generator<NumberedEntry, void> {
  for (let start = 0; start < ordinals.length; start += BATCH) {
    const batch: NumberedEntry[] = [];
    const wanted = ordinals.subarray(start, start + BATCH);
    session.readEntries(wanted, (ordinal, entry) => batch.push({ ordinal, entry }));
    yield* batch;
  }
}
