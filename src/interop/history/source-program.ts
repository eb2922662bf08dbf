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
  /** The first record of the conversation, which identifies forks that copy records. */
  readonly firstUuid?: string | undefined;
  /** Whether the conversation began before the file. */
  readonly isCopy?: boolean | undefined;
  /** When the file began, ISO 8601, if known. */
  readonly begunAt?: string | undefined;
  /** The session or file in which the history begins. */
  readonly baseId?: string | undefined;
  /** The session that this one was forked from, or that started it. */
  readonly parentId?: string | undefined;
  /** The session of ours that was exported to it, as long as nothing was added since. */
  readonly exported?: ContinuedSession | undefined;
  /** Whether the file is a database, of which a copy is read. */
  readonly isInDatabase?: boolean | undefined;
  /** Of one session among several in a file: what changes whenever it does. Default: the state of the file. */
  readonly stamp?: string | undefined;
  /** Of one session among several in a file: its latest modification, Unix milliseconds. Default: that of the file. */
  readonly modifiedMs?: number | undefined;
}

/** A file with the facts of one session in it. */
export interface KnownFile extends SourceFile {
  readonly facts: FileFacts;
}

/** Returns the file of the main agent among those of a session; undefined if only those of subagents are there. */
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

/** Options to read the files of a session. */
export interface ReadOptions {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Start of the session at its first import, ISO 8601, if no record tells it; used for records without a time. */
  readonly begunAt: string | undefined;
  /** Entries of the session here, if the program needs them; none if it is new. */
  readonly known: readonly UnknownEntry[];
  /** Id of the session here, unless it is the one made from its id there. */
  readonly ownId: string | undefined;
  /** Folder in which a database that stands beside sessions is copied, to read it. */
  readonly cacheDir: string;
}

/** Whatever belongs to the sessions of one program, when they are grouped. */
export interface SourceScene {
  /** All files of the program. */
  readonly files: readonly KnownFile[];
  /** Working directories of all programs' sessions. */
  readonly folders: ReadonlySet<string>;
  readonly beside: SideFiles;
  readonly env: Environment;
}

/** What stands beside the files of a session. */
export type SessionBeside = Partial<Pick<SourceSession, "others" | "title" | "cwd" | "startedAt">>;

/** Reads the end of a program's file. */
export interface TailReader {
  /** Converts records from the end of a session's main file. */
  read(text: SourceText, session: SourceSession, options: ReadOptions): ImportedSession | undefined;
  /** Tells whether the latest records alone decide what new ones become; `sharedIds` are entries of both readings. */
  isAlone(
    fresh: readonly SourceRecord[],
    old: readonly SourceRecord[],
    sharedIds: ReadonlySet<string>,
  ): boolean;
}

/**
 * All that is particular to one program; everything else in this room is the same for each.
 *
 * A new program brings `folders`, `readFacts` and `read`, and a line in `source-table`; `jsonl/foreign-source` recognizes
 * its records. The other members are for programs that need them.
 */
export interface SourceProgram {
  readonly name: SourceName;
  /** Returns the folders in which the program keeps sessions, located as it does; they may be missing. */
  folders(env: Environment, home: string): string[];
  /** Whether only files that the caller names are its sessions. */
  readonly isOnlyNamed?: boolean;
  /**
   * Tells whether a file holds sessions of the program, judged by its path: true for names that do not end with `.jsonl`
   * or `.json`, such as those of a database; false for files that stand beside its sessions and are none.
   *
   * @returns Undefined if only its content tells.
   */
  isOwn?(path: string): boolean | undefined;
  /** Returns the files that change together with a session's file: the log of a database, titles, parts. They may be missing. */
  filesBeside?(path: string): readonly string[];
  /** Returns the facts of the sessions in a text of the program, or its front; empty if it holds none. */
  readFacts(text: string, path: string): readonly FileFacts[];
  /** The facts for which the front of a file is read further. Default: `cwd` and `startedAt`. */
  readonly wanted?: readonly (keyof FileFacts)[];
  /**
   * Returns the facts of the sessions in a database of SQLite.
   *
   * @param copy - Path of the copy to read.
   * @param path - Path of the database itself.
   * @returns Undefined if it is another program's.
   * @throws {SessionError} If it cannot be read, or has an unknown schema.
   */
  factsInDatabase?(copy: string, path: string): readonly FileFacts[] | undefined;
  /** Columns of its databases by which rows are looked up; the copy gets an index for each. */
  readonly lookups?: LookupColumns;
  /** Returns whether reading a session opens a database beside it. */
  readsDatabase?(session: SourceSession): boolean;
  /** Returns the folder that holds all files of a file's session. Default: any of those of the program may hold some. */
  getHome?(path: string): string;
  /** Omits files that are the same as others, such as archived or compressed ones. */
  withoutCopies?(files: readonly KnownFile[]): readonly KnownFile[];
  /** Returns what keeps sessions of the same id apart, such as a folder: of several, the largest is imported. */
  makeKey?(file: KnownFile): string;
  /** Returns what finds that which stands beside a session: titles, bases, the folder of its project. */
  beside?(scene: SourceScene): (main: KnownFile, files: readonly KnownFile[]) => SessionBeside;
  /** Finds the sessions that others may have been copied from. */
  withOrigins?(sessions: readonly SourceSession[]): readonly SourceSession[];
  /** Tells whether a session can only be converted with what an earlier import has made of it. */
  needsKnown?(session: SourceSession): boolean;
  /** Converts the files of a session to sessions, the main one first; none if they hold no conversation. */
  read(session: SourceSession, options: ReadOptions): ImportedSession[];
  /** How to read on where the last import ended; absent if all of a file must be read. */
  readonly tail?: TailReader;
  /** Counts the records of a copy that the session lacks. */
  countMissing?(copy: KnownFile, session: SourceSession): number;
}
