import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { IMPORTED_SOURCES } from "../../core/jsonl/foreign-source.ts";

/** Programs whose sessions can be imported, and `messages` for message arrays from any file. */
export const SOURCE_NAMES = IMPORTED_SOURCES;

/** A program whose sessions can be imported, or `messages`. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/**
 * Version of the mapping from records to entries. It is incremented when the same records would be converted to different
 * entries.
 */
export const IMPORT_MAPPING = 4;

/** Record counts of an import. */
export interface ImportCounts {
  /** Number of records read. */
  records: number;
  /** Number of records that were included in conversation entries. */
  mapped: number;
  /** Number of records kept as `custom` entries. */
  kept: number;
  /** Number of omitted records. `dropped` gives the reasons. */
  dropped: number;
  /** Number of entries created, excluding the session header. */
  entries: number;
  userMessages: number;
  assistantMessages: number;
  toolResults: number;
  compactions: number;
}

/** Initial import counts, before any records are read. */
export const NO_COUNTS: Readonly<ImportCounts> = {
  records: 0,
  mapped: 0,
  kept: 0,
  dropped: 0,
  entries: 0,
  userMessages: 0,
  assistantMessages: 0,
  toolResults: 0,
  compactions: 0,
};

/** Data of the entry that records the source of an imported session. */
export interface ImportProvenance {
  source: SourceName;
  /** Id of the session in the source program. */
  sourceId: string;
  /** Path of the source file, or of the first source file if there are several. */
  sourcePath: string | null;
  /** Version of the program that created the session. For a message array, the name of its format. */
  sourceVersion: string | null;
  /** Version of the mapping from records to entries; absent for version 1. */
  mapping?: number;
  /** Time of the first import, ISO 8601. */
  importedAt: string;
  /** Counts of the first import. */
  counts: ImportCounts;
  /** Sessiontree session that this session continues. */
  continued?: { readonly sessionId: string; readonly leafId: string };
}

/** Parent of a session, identified by its id in the source. */
export interface SourceParent {
  readonly sourceId: string;
  readonly relation: "fork" | "subagent";
}

/** A session converted from another program's records. */
export interface ImportedSession {
  readonly source: SourceName;
  readonly sourceId: string;
  /** Path of the source file, or of the first source file if there are several. */
  readonly sourcePath: string | undefined;
  /** Header without `parentSession`, because only the code that writes files can determine the parent's path. */
  readonly header: SessionHeader;
  /** Entries, each after its parent. The first entry records the source of the session. */
  readonly entries: readonly AnySessionEntry[];
  /** Id of the last entry, at which the source program would continue. */
  readonly leafId: string | null;
  readonly parent: SourceParent | undefined;
  /** Sessiontree session that was exported to the program and continued there. */
  readonly continued?: {
    readonly sessionId: string;
    /** Id of the entry that was the leaf of the export. */
    readonly leafId: string;
    /** Ids of the entries that repeat exported entries. Their calls are counted in the original session. */
    readonly copiedIds: ReadonlySet<string>;
    /** Whether the copies must match entries of the original, because anyone could have written such a document. */
    readonly mustMatch?: boolean;
  };
  /** Ids of entries that are created from a shorter version of the same records, but not from the full records. */
  readonly withdrawnIds: ReadonlySet<string>;
  /**
   * Ids of name entries that the program generated. A name that the user gives the session in sessiontree takes precedence over
   * them.
   */
  readonly madeNameIds: ReadonlySet<string>;
  readonly counts: ImportCounts;
  /** Number of omitted records by reason. */
  readonly dropped: { readonly [reason: string]: number };
  readonly issues: readonly SessionIssue[];
}

/** The sessiontree session that a program continues, and the entries that were copied from it. */
export type ContinuedOrigin = NonNullable<ImportedSession["continued"]>;
