import type { UnknownEntry } from "../../core/format/entry.ts";
import type { ContinuedSession } from "../import/continued-session.ts";
import type { ImportedSession, SourceName } from "../import/imported-session.ts";
import type { SourceRecord, SourceText } from "../import/source-text.ts";
import type { SideFiles, SourceFile } from "./source-file.ts";
import type { LookupColumns } from "./sqlite.ts";

/** Environment variables. */
export type Environment = { readonly [name: string]: string | undefined };

/** Facts about a session from the front of its file; plain data, which the cache keeps as JSON. */
export interface FileFacts {
  readonly source: SourceName;
  /** Id of the session; for a subagent's file, that of its main session. */
  readonly sessionId: string;
  /** Only for a subagent's file. */
  readonly agentId?: string | undefined;
  readonly cwd?: string | undefined;
  /** ISO 8601. */
  readonly startedAt?: string | undefined;
  /** Id of the first record of the conversation, which identifies forks that copy records. */
  readonly firstUuid?: string | undefined;
  /** Whether the conversation began before the file. */
  readonly isCopy?: boolean | undefined;
  /** Start time of the file, ISO 8601, if known. */
  readonly begunAt?: string | undefined;
  /** The session or file in which the history begins. */
  readonly baseId?: string | undefined;
  /** The session that this one was forked from, or that started it. */
  readonly parentId?: string | undefined;
  /** The session of ours that was exported to it, if no records were added since. */
  readonly exported?: ContinuedSession | undefined;
  /** Whether the file is a database; a copy of it is read. */
  readonly isInDatabase?: boolean | undefined;
  /** For one of several sessions in a file: a string that changes whenever the session does. Default: the state of the file. */
  readonly stamp?: string | undefined;
  /** For one of several sessions in a file: its latest modification, Unix milliseconds. Default: that of the file. */
  readonly modifiedMs?: number | undefined;
}

/** A file with the facts of one session in it. */
export interface KnownFile extends SourceFile {
  readonly facts: FileFacts;
}

/** Returns the file of the main agent among those of a session; undefined if there are only files of subagents. */
export function findMainFile(files: readonly KnownFile[]): KnownFile | undefined {
  return files.find(({ facts }) => facts.agentId === undefined);
}

/** A session of another program, with its files; plain data, to pass to another process. */
export interface SourceSession {
  readonly source: SourceName;
  /** Id of the session in its program. */
  readonly sourceId: string;
  /** Files of the session, including those of subagents. */
  readonly files: readonly KnownFile[];
  /** Files of other sessions in which this one's history begins, or that show how it began. */
  readonly others: readonly KnownFile[];
  /** Empty if unknown. */
  readonly cwd: string;
  readonly startedAt: string;
  /** Files of other, smaller copies of the session, which are not imported. */
  readonly copies: readonly KnownFile[];
  /** Files of sessions that it may have been copied from. */
  readonly origins: readonly KnownFile[];
  /** Name, from the program's separate list. */
  readonly title: string | undefined;
  /** Latest modification of its files, Unix milliseconds. */
  readonly modifiedMs: number;
  /** State of its files, which changes whenever one is written to. */
  readonly stamp: string;
}

/** Options for reading the files of a session. */
export interface ReadOptions {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Start of the session at its first import, ISO 8601, if no record states it; used for records without a time. */
  readonly begunAt: string | undefined;
  /** Entries of the session in the target, if the program needs them; empty if it is new. */
  readonly known: readonly UnknownEntry[];
  /** Id of the session in the target, unless it is derived from the source id. */
  readonly ownId: string | undefined;
  /** Folder to which a database next to sessions is copied for reading. */
  readonly cacheDir: string;
}

/** Context for grouping the sessions of one program. */
export interface SourceScene {
  /** All files of the program. */
  readonly files: readonly KnownFile[];
  /** Working directories of all programs' sessions. */
  readonly folders: ReadonlySet<string>;
  readonly beside: SideFiles;
  readonly env: Environment;
}

/** Facts from files next to those of a session. */
export type SessionBeside = Partial<Pick<SourceSession, "others" | "title" | "cwd" | "startedAt">>;

/** Reads the end of a program's file. */
export interface TailReader {
  /** Converts records from the end of a session's main file. */
  read(text: SourceText, session: SourceSession, options: ReadOptions): ImportedSession | undefined;
  /** Returns whether the latest records alone determine the entries of new ones; `sharedIds` are entries of both readings. */
  isAlone(
    fresh: readonly SourceRecord[],
    old: readonly SourceRecord[],
    sharedIds: ReadonlySet<string>,
  ): boolean;
}

/**
 * The program-specific part of importing; everything else in this folder is the same for each program.
 *
 * A new program provides `folders`, `readFacts` and `read`, and a line in `source-table`; `jsonl/foreign-source` recognizes its
 * records. The other members are optional.
 */
export interface SourceProgram {
  readonly name: SourceName;
  /** Returns the folders in which the program stores sessions, located like the program does; they may be missing. */
  folders(env: Environment, home: string): string[];
  /** Whether only files that the caller names are its sessions. */
  readonly isOnlyNamed?: boolean;
  /**
   * Returns whether a file contains sessions of the program, judged by its path: true for names that do not end with `.jsonl` or
   * `.json`, such as those of a database; false for files next to its sessions that are not sessions.
   *
   * @returns Undefined if only its content can determine that.
   */
  isOwn?(path: string): boolean | undefined;
  /** Returns the files that change together with a session's file: the log of a database, titles, parts. They may be missing. */
  filesBeside?(path: string): readonly string[];
  /** Returns the facts of the sessions in a text of the program, or its front; empty if it contains none. */
  readFacts(text: string, path: string): readonly FileFacts[];
  /** The facts for which more of a file's front is read. Default: `cwd` and `startedAt`. */
  readonly wanted?: readonly (keyof FileFacts)[];
  /**
   * Returns the facts of the sessions in a database of SQLite.
   *
   * @param copy - Path of the copy to read.
   * @param path - Path of the database itself.
   * @returns Undefined if it is another program's database.
   * @throws {SessionError} If it cannot be read, or has an unknown schema.
   */
  factsInDatabase?(copy: string, path: string): readonly FileFacts[] | undefined;
  /** Columns of its databases by which rows are looked up; the copy gets an index for each. */
  readonly lookups?: LookupColumns;
  /** Returns whether reading a session opens a database next to it. */
  readsDatabase?(session: SourceSession): boolean;
  /** Returns the folder that contains all files of a file's session. Default: any of the program's folders may contain some. */
  getHome?(path: string): string;
  /** Omits files that are the same as others, such as archived or compressed ones. */
  withoutCopies?(files: readonly KnownFile[]): readonly KnownFile[];
  /**
   * Returns a key that distinguishes sessions of the same id, such as a folder; of several sessions with the same id, the largest
   * is imported.
   */
  makeKey?(file: KnownFile): string;
  /** Returns a function that finds facts next to a session: titles, bases, the folder of its project. */
  beside?(scene: SourceScene): (main: KnownFile, files: readonly KnownFile[]) => SessionBeside;
  /** Finds the sessions that others may have been copied from. */
  withOrigins?(sessions: readonly SourceSession[]): readonly SourceSession[];
  /** Returns whether converting a session requires the entries from an earlier import of it. */
  needsKnown?(session: SourceSession): boolean;
  /** Converts the files of a session to sessions, the main one first; empty if they contain no conversation. */
  read(session: SourceSession, options: ReadOptions): ImportedSession[];
  /** Reader that continues where the last import ended; absent if a file must always be read whole. */
  readonly tail?: TailReader;
  /** Counts the records of a copy that the session lacks. */
  countMissing?(copy: KnownFile, session: SourceSession): number;
}
