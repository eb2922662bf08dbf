import type { Readable, Writable } from "node:stream";
import type { SessionStore } from "../../stores/contract/session-store.ts";

/** A stream that is written to: what `process.stdout` has, and a test can make. */
export interface CliStream {
  write(text: string): unknown;
  /** Whether a person looks at it. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** False once its reader is gone. */
  readonly writable?: boolean;
}

/** A stream that is read from: what `process.stdin` has, and a test can make. */
export type CliInput = AsyncIterable<Uint8Array | string> & {
  /** Whether a person types it. */
  readonly isTTY?: boolean;
};

/** A terminal at which a person sits: keys come from it, and it is drawn on. */
export interface CliTerminal {
  readonly input: Readable & { setRawMode?(isRaw: boolean): unknown };
  readonly output: Writable & { readonly columns?: number; readonly rows?: number };
}

/** How databases are reached. */
export interface CliStores {
  open(url: string): Promise<SessionStore>;
  /** Makes its tables, or changes them to those of a version; of the newest if none is named. */
  migrate(url: string, to: number | undefined): Promise<{ readonly from: number; readonly to: number }>;
  /** Returns the statements that `migrate` would run now; none if there is nothing to do. */
  migrationSql(url: string, to: number | undefined): Promise<string[]>;
}

/** The world of the command line: all that it reads from and writes to beside session files. */
export interface CliIo {
  /** Where a session named `-` comes from; missing where nothing can be read. */
  readonly stdin?: CliInput;
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly env: { readonly [name: string]: string | undefined };
  /** Folder where relative paths start. */
  readonly cwd: string;
  /** Returns Unix milliseconds. */
  readonly now: () => number;
  /** Asks the person at the terminal; returns the empty text if there is no answer. Missing without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  /** What a picker is drawn on; missing without a terminal. */
  readonly terminal?: CliTerminal;
  /** Opens a file as a double click would; returns whether that can be done. Missing without a desktop. */
  readonly open?: (path: string) => Promise<boolean>;
  /** Aborts when a hook must answer with what it has; missing where nothing waits for it. */
  readonly deadline?: AbortSignal;
  /** Runs the same command line in a process of its own, which goes on when this one ends; resolves once it has its input. */
  readonly again?: (input: string) => Promise<void>;
  /** Default: PostgreSQL, by the package `pg`, and files of SQLite. */
  readonly stores?: CliStores;
  /** Returns a signal for the next interrupt, which then does not end the program by itself; default: none comes. */
  readonly untilInterrupted?: () => AbortSignal;
}

/** The same as a caller may leave it: without a clock, the system's counts. */
export type CallerIo = Omit<CliIo, "now"> & Partial<Pick<CliIo, "now">>;
