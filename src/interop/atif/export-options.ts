import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";

/** Session methods that an export uses. Implemented by `SessionManager` and `ReadonlySessionManager`. */
export interface AtifSource {
  getHeader(): SessionHeader | null;
  getLeafId(): string | null;
  getEntries(): readonly AnySessionEntry[];
  getBranch(fromId?: string): readonly AnySessionEntry[];
}

/** Options for `exportAtif`. */
export interface ExportAtifOptions {
  /** Id of the last entry on the path. Default: the session's leaf. */
  readonly leafId?: string;
  /**
   * `"whole"` exports the whole path, with each compaction as a step. `"context"` exports the model's context, with kept turns
   * marked as copied context. Default: `"whole"`.
   */
  readonly compacted?: "whole" | "context";
  /**
   * Whether to store all entries of the session, so that `findAtifSession` can restore its file. To restore another program's
   * file byte for byte, pass the file's text. Default: false.
   */
  readonly lossless?: boolean | string;
  /** Whether to export names, labels, settings, and extension state. Default: false. */
  readonly state?: boolean;
  /**
   * Folder for images, relative to the document; `""` is the document's own folder. Default: images are converted to `data:`
   * URLs.
   */
  readonly assets?: string;
  /** Sessions of subagents to embed, including nested subagents, in any order. Default: none. */
  readonly subagents?: readonly AtifSource[];
}
