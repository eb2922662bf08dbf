import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";

/** Session methods that an export uses; `SessionManager` and `ReadonlySessionManager` have them. */
export interface AtifSource {
  getHeader(): SessionHeader | null;
  getLeafId(): string | null;
  getEntries(): readonly AnySessionEntry[];
  getBranch(fromId?: string): readonly AnySessionEntry[];
}

/** Options for `exportAtif`. */
export interface ExportAtifOptions {
  /** Last entry of the path. Default: the leaf of the session. */
  readonly leafId?: string;
  /**
   * `"whole"` exports the whole path, with each compaction as a step; `"context"` exports the context of the model, with kept
   * turns marked as copied context. Default: `"whole"`.
   */
  readonly compacted?: "whole" | "context";
  /**
   * Whether to store all entries of the session, so that `findAtifSession` returns its file; pass the text of the file if it must
   * be restored byte for byte although another program wrote it. Default: false.
   */
  readonly lossless?: boolean | string;
  /** Whether to export names, labels, settings, and the state of extensions. Default: false. */
  readonly state?: boolean;
  /** Folder for images, relative to the document; `""` is the document's own. Default: images are `data:` URLs. */
  readonly assets?: string;
  /** Sessions of subagents, and of their subagents, in any order, to embed. Default: none. */
  readonly subagents?: readonly AtifSource[];
}
