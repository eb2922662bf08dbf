import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { ExportedTrajectory } from "../../../interop/atif/export-atif.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";

/** Session to export, with options. */
export interface ExportSource {
  readonly session: SessionView;
  /** Ordinal of the entry at which the branch ends, or NONE. */
  readonly leaf: number;
  /** Whether to export everything: all branches, or every entry of a drawing. */
  readonly isFull: boolean;
  readonly withImages: boolean;
  /** Level of detail of output from tools and commands in Markdown. */
  readonly results: ResultDetail;
  readonly atif?: AtifChoices;
  /** ATIF document, if it has already been created. */
  readonly exported?: ExportedTrajectory;
}

/** Levels of detail: no results, results folded and shortened, or results and calls in full. */
export const RESULT_DETAILS = ["none", "folded", "full"] as const;

/** Level of detail of results. */
export type ResultDetail = (typeof RESULT_DETAILS)[number];

/** Options for an ATIF document. */
export interface AtifChoices {
  /** Whether to export the context that the model sees, instead of the whole branch. */
  readonly isContext?: boolean;
  /** Whether to include the session itself in the document. */
  readonly isLossless?: boolean;
  /** Folder for images, relative to the document. */
  readonly assets?: string;
  /** Sessions of subagents. */
  readonly subagents?: readonly SessionView[];
}

/** Entry and its ordinal; without the entry if its body is damaged. */
export interface NumberedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry | undefined;
}

const BATCH = 64;

/** Yields entries with their bodies, in the order of the ordinals, in small batches to limit memory use. */
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
