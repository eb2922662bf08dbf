import type { UnknownEntry } from "../../core/format/entry.ts";
import type { ContinuedSession } from "../import/continued-session.ts";
import type { ImportedSession, SourceName } from "../import/imported-session.ts";
import type { SourceRecord, SourceText } from "../import/source-text.ts";
import type { SideFiles, SourceFile } from "./source-file.ts";
import type { LookupColumns } from "./sqlite.ts";

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** Facts about a session from the beginning of its file. Plain data, because the cache stores it as JSON. */
export interface FileFacts {
  readonly source: SourceName;
  /** Id of the session. For a subagent's file, the id of the main session. */
  readonly sessionId: string;
  /** Id of the subagent. Set only for a subagent's file. */
  readonly agentId?: string | undefined;
  readonly cwd?: string | undefined;
  /** ISO 8601. */
  readonly startedAt?: string | undefined;
  /** Id of the conversation's first record, which identifies forks that copy records. */
  readonly firstUuid?: string | undefined;
  /** Whether the conversation began before the file was created. */
  readonly isCopy?: boolean | undefined;
  /** Time of the conversation's first message, ISO 8601, if known. */
  readonly begunAt?: string | undefined;
  /** Id of the session or file that contains the beginning of the history. */
  readonly baseId?: string | undefined;
  /** Id of the session that this session was forked from, or that started it. */
  readonly parentId?: string | undefined;
  /** Sessiontree session that was exported to this file, if no records have been added since then. */
  readonly exported?: ContinuedSession | undefined;
  /** Whether the file is a database, which is read from a copy. */
  readonly isInDatabase?: boolean | undefined;
  /** For one of several sessions in a file, a string that changes whenever the session does. Default: the state of the file. */
  readonly stamp?: string | undefined;
  /**
   * For one of several sessions in a file, the time when the session was last modified, in Unix milliseconds. Default: the file's
   * time.
   */
  readonly modifiedMs?: number | undefined;
}

/** A file, with facts about one of its sessions. */
export interface KnownFile extends SourceFile {
  readonly facts: FileFacts;
}

/** Returns the main agent's file from among a session's files; undefined if all the files belong to subagents. */
export function findMainFile(files: readonly KnownFile[]): KnownFile | undefined {
  return files.find(({ facts }) => facts.agentId === undefined);
}

/** Another program's session, with its files. Plain data that can be sent to another process. */
export interface SourceSession {
  readonly source: SourceName;
  /** Id of the session in its program. */
  readonly sourceId: string;
  /** Files of the session, including its subagents' files. */
  readonly files: readonly KnownFile[];
  /** Files of other sessions that contain the beginning of this session's history, or show how it began. */
  readonly others: readonly KnownFile[];
  /** Empty if unknown. */
  readonly cwd: string;
  readonly startedAt: string;
  /** Files of other, smaller copies of the session. They are not imported. */
  readonly copies: readonly KnownFile[];
  /** Files of sessions that this session may have been copied from. */
  readonly origins: readonly KnownFile[];
  /** Name of the session, from a separate list that the program maintains. */
  readonly title: string | undefined;
  /** Time of the last modification to any of its files, in Unix milliseconds. */
  readonly modifiedMs: number;
  /** State of its files. It changes whenever one of the files is written to. */
  readonly stamp: string;
}

/** Options for reading the files of a session. */
export interface ReadOptions {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Start time of the session at its first import, ISO 8601, if no record contains it. Used for records without a time. */
  readonly begunAt: string | undefined;
  /** Entries of the session in the target, if the program needs them. Empty if the session is new. */
  readonly known: readonly UnknownEntry[];
  /** Id of the session in the target, if it is not derived from the source id. */
  readonly ownId: string | undefined;
  /** Folder for the copy of a database next to sessions, which is made before the database is read. */
  readonly cacheDir: string;
}

/** Context for grouping the files of one program into sessions. */
export interface SourceScene {
  /** All files of the program. */
  readonly files: readonly KnownFile[];
  /** Working directories of the sessions of all programs. */
  readonly folders: ReadonlySet<string>;
  readonly beside: SideFiles;
  readonly env: Environment;
}

/** Facts about a session from files next to the session's own file. */
export type SessionBeside = Partial<Pick<SourceSession, "others" | "title" | "cwd" | "startedAt">>;

/** Reads the end of a program's session file. */
export interface TailReader {
  /** Converts records from the end of a session's main file. */
  read(text: SourceText, session: SourceSession, options: ReadOptions): ImportedSession | undefined;
  /** Returns whether the latest records suffice to convert new records. `sharedIds` are the entries that both readings yield. */
  isAlone(
    fresh: readonly SourceRecord[],
    old: readonly SourceRecord[],
    sharedIds: ReadonlySet<string>,
  ): boolean;
}

/**
 * Program-specific part of an import. Everything else in this folder is the same for all programs.
 *
 * A new program requires `folders`, `readFacts`, `read`, and a line in `source-table`. `jsonl/foreign-source` recognizes its
 * records. The other members are optional.
 */
export interface SourceProgram {
  readonly name: SourceName;
  /**
   * Returns the folders where the program stores sessions, determined in the same way as the program does. They may not exist.
   */
  folders(env: Environment, home: string): string[];
  /** Whether only files specified by the caller are treated as the program's sessions. */
  readonly isOnlyNamed?: boolean;
  /**
   * Returns whether a file contains the program's sessions, based on the file's path. True for names that do not end with
   * `.jsonl` or `.json`, such as a database's. False for files that are next to sessions but do not contain sessions.
   *
   * @returns Undefined if only the file's content can determine this.
   */
  isOwn?(path: string): boolean | undefined;
  /** Returns files that change together with a session's file: a database's log, titles, or parts. They may not exist. */
  filesBeside?(path: string): readonly string[];
  /**
   * Returns facts about the sessions in a program's file, or in the beginning of such a file; empty if there are no sessions in
   * it.
   */
  readFacts(text: string, path: string): readonly FileFacts[];
  /** Facts that, if missing, cause more of a file's beginning to be read. Default: `cwd` and `startedAt`. */
  readonly wanted?: readonly (keyof FileFacts)[];
  /**
   * Returns facts about the sessions in a SQLite database.
   *
   * @param copy - Path of the copy to read.
   * @param path - Path of the database itself.
   * @returns Undefined if the database belongs to another program.
   * @throws {SessionError} If the database cannot be read or has an unknown schema.
   */
  factsInDatabase?(copy: string, path: string): readonly FileFacts[] | undefined;
  /** Columns for looking up rows in its databases. Each of these columns is indexed in the copy. */
  readonly lookups?: LookupColumns;
  /** Returns whether reading a session requires opening a database next to it. */
  readsDatabase?(session: SourceSession): boolean;
  /** Returns the folder that contains all files of a file's session. Default: they may be in any of the program's folders. */
  getHome?(path: string): string;
  /** Omits files that duplicate others, such as archived or compressed ones. */
  withoutCopies?(files: readonly KnownFile[]): readonly KnownFile[];
  /**
   * Returns a key that distinguishes sessions with the same id, such as a folder. If there are several such sessions, only the
   * largest is imported.
   */
  makeKey?(file: KnownFile): string;
  /** Returns a function that finds facts about a session in other files: titles, bases, or the project folder. */
  beside?(scene: SourceScene): (main: KnownFile, files: readonly KnownFile[]) => SessionBeside;
  /** Finds the sessions that other sessions may have been copied from. */
  withOrigins?(sessions: readonly SourceSession[]): readonly SourceSession[];
  /** Returns whether converting a session requires the entries from an earlier import. */
  needsKnown?(session: SourceSession): boolean;
  /** Converts the files of a session to sessions, the main session first. Empty if the files contain no conversation. */
  read(session: SourceSession, options: ReadOptions): ImportedSession[];
  /** Continues reading where the last import stopped. Absent if a file must always be read completely. */
  readonly tail?: TailReader;
  /** Returns the number of records in a copy that are missing from the session. */
  countMissing?(copy: KnownFile, session: SourceSession): number;
}
