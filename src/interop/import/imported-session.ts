import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { IMPORTED_SOURCES } from "../../core/jsonl/foreign-source.ts";

/** Programs whose sessions can be imported, and `messages` for arrays of messages from any file. */
export const SOURCE_NAMES = IMPORTED_SOURCES;

/** One of the programs whose sessions can be imported, or `messages`. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** Version of the mapping from records to entries, incremented when imported records would become other entries. */
export const IMPORT_MAPPING = 4;

/** Record counts of an import. */
export interface ImportCounts {
  /** Records read. */
  records: number;
  /** Records that became part of an entry of the conversation. */
  mapped: number;
  /** Records kept as `custom` entries. */
  kept: number;
  /** Records omitted; `dropped` gives the reasons. */
  dropped: number;
  /** Entries made, excluding this session's header. */
  entries: number;
  userMessages: number;
  assistantMessages: number;
  toolResults: number;
  compactions: number;
}

/** Counts before any record is read. */
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

/** Data of the entry that records where a session was imported from. */
export interface ImportProvenance {
  source: SourceName;
  /** Id of the session in its program. */
  sourceId: string;
  /** Path of the source file; the first one if there are several. */
  sourcePath: string | null;
  /** Version of the program that created the session; for an array of messages, their form. */
  sourceVersion: string | null;
  /** Version of the mapping from records to entries; absent for the first one. */
  mapping?: number;
  /** Time of the first import, ISO 8601. */
  importedAt: string;
  /** Counts of the first import. */
  counts: ImportCounts;
  /** Session of ours that this one continues. */
  continued?: { readonly sessionId: string; readonly leafId: string };
}

/** Parent of a session, by its id in the source. */
export interface SourceParent {
  readonly sourceId: string;
  readonly relation: "fork" | "subagent";
}

/** A session made from another program's records. */
export interface ImportedSession {
  readonly source: SourceName;
  readonly sourceId: string;
  /** Path of the source file; the first one if there are several. */
  readonly sourcePath: string | undefined;
  /** Without `parentSession`: only the code that writes files can determine the parent's path. */
  readonly header: SessionHeader;
  /** The first one records the origin of the session; each comes after its parent. */
  readonly entries: readonly AnySessionEntry[];
  /** The last entry, where the source's program would continue. */
  readonly leafId: string | null;
  readonly parent: SourceParent | undefined;
  /** Session of ours that was exported to the program and continued there. */
  readonly continued?: {
    readonly sessionId: string;
    /** Entry that was the leaf of the export. */
    readonly leafId: string;
    /** Ids of the entries that repeat exported ones; their calls count in the original. */
    readonly copiedIds: ReadonlySet<string>;
    /** Whether the copies must be in the session, because anyone can write such a document. */
    readonly mustMatch?: boolean;
  };
  /** Ids of entries that a shorter version of the same records yields, but the full records do not. */
  readonly withdrawnIds: ReadonlySet<string>;
  /**
   * Ids of entries with a name that the program generated: a name that the user gives the session in sessiontree takes
   * precedence.
   */
  readonly madeNameIds: ReadonlySet<string>;
  readonly counts: ImportCounts;
  /** Number of records omitted, by reason. */
  readonly dropped: { readonly [reason: string]: number };
  readonly issues: readonly SessionIssue[];
}

/** A session of ours that a program continues, and the entries that were copied from it. */
export type ContinuedOrigin = NonNullable<ImportedSession["continued"]>;
