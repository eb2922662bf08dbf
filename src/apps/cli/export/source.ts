import type { ExportedTrajectory } from "../../../interop/atif/export-atif.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import type { ResultDetail } from "../../text/markdown.ts";

/** Session to export, with options. */
export interface ExportSource {
  readonly session: SessionView;
  /** Ordinal of the entry at which the branch ends, or NONE. */
  readonly leaf: number;
  /** Whether to export everything: all branches, or every entry in a drawing. */
  readonly isFull: boolean;
  readonly withImages: boolean;
  /** Level of detail of output from tools and commands in Markdown. */
  readonly results: ResultDetail;
  readonly atif?: AtifChoices;
  /** ATIF document, if it has already been created. */
  readonly exported?: ExportedTrajectory;
}

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
