import type { Readable, Writable } from "node:stream";
import type { SessionStore } from "../../stores/contract/session-store.ts";

/** Output stream: the required part of `process.stdout`, which a test can provide. */
export interface CliStream {
  write(text: string): unknown;
  /** Whether the stream is a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** False after the reader has closed the pipe. */
  readonly writable?: boolean;
}

/** Input stream: the required part of `process.stdin`, which a test can provide. */
export type CliInput = AsyncIterable<Uint8Array | string> & {
  /** Whether the stream is a terminal. */
  readonly isTTY?: boolean;
};

/** Interactive terminal: a stream of key presses, and a stream to draw on. */
export interface CliTerminal {
  readonly input: Readable & { setRawMode?(isRaw: boolean): unknown };
  readonly output: Writable & { readonly columns?: number; readonly rows?: number };
}

/** Access to databases. */
export interface CliStores {
  open(url: string): Promise<SessionStore>;
  /** Creates the tables for a version, or migrates existing tables to that version; default: the newest version. */
  migrate(url: string, to: number | undefined): Promise<{ readonly from: number; readonly to: number }>;
  /** Returns the statements that `migrate` would run now; empty if there is nothing to do. */
  migrationSql(url: string, to: number | undefined): Promise<string[]>;
}

/** Environment of the command line: everything that it reads and writes, except session files. */
export interface CliIo {
  /** Source of the session named `-`; absent if nothing can be read. */
  readonly stdin?: CliInput;
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly env: { readonly [name: string]: string | undefined };
  /** Base folder of relative paths. */
  readonly cwd: string;
  /** Returns the current time, in Unix milliseconds. */
  readonly now: () => number;
  /** Reads the user's answer to a question at the terminal; empty if the user does not answer. Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  /** Terminal for the picker; absent without a terminal. */
  readonly terminal?: CliTerminal;
  /** Opens a file as a double-click would; returns whether that is possible. Absent without a desktop. */
  readonly open?: (path: string) => Promise<boolean>;
  /** Aborts when a hook must answer with the results found until then; absent if no agent is waiting. */
  readonly deadline?: AbortSignal;
  /**
   * Runs the same command line in a separate process that outlives this one; resolves once that process has received its input.
   */
  readonly again?: (input: string) => Promise<void>;
  /** Default: PostgreSQL, through the package `pg`, and SQLite files. */
  readonly stores?: CliStores;
  /** Returns a signal that the next interrupt aborts instead of ending the program; default: no interrupts. */
  readonly untilInterrupted?: () => AbortSignal;
}

/** `CliIo` as provided by callers: `now` is optional and defaults to the system clock. */
export type CallerIo = Omit<CliIo, "now"> & Partial<Pick<CliIo, "now">>;
