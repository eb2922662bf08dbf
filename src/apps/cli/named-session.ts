import { SessionError } from "../../core/format/errors.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { SessionView } from "../../session/manager/session-view.ts";
import type { CliIo } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/** Where a session is. */
export interface SessionLocation {
  /** For people: its path, or its id and the database. */
  readonly text: string;
  /** For programs: `path`, or `id` and `store`. */
  readonly json: { readonly path: string } | { readonly id: string; readonly store: string };
}

/** A session that a call names, wherever it is kept. */
export interface NamedSession {
  readonly location: SessionLocation;
  /** Absolute path of its file, for what only files can do; undefined if it has none. */
  readonly path: string | undefined;
  /** Its id in a database; undefined elsewhere. */
  readonly id: string | undefined;
  /** Reads it, to look at it. */
  read(): Promise<SessionView>;
  /** Opens it, to append to it or to watch it; a session from stdin is refused. */
  open(mode?: "read-only"): Promise<SessionManager>;
  /** Yields its bytes, in pieces that are valid until the next is asked for. */
  bytes(): AsyncIterable<Uint8Array>;
  /** Returns what a list says of it; undefined if it is no session. */
  row(): Promise<SessionRow | undefined>;
  /** Deletes it; from a database for good. */
  delete(options: { readonly permanent: boolean; readonly force: boolean }): Promise<"trash" | "permanent">;
}

const PIPED = "-";

/** Other names of stdin: no files, whatever stands there. */
const STDIN_FILES = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/** What output calls the session from stdin: a file that is made of it on the way is nobody's business. */
const STDIN_TEXT = "standard input";

/** Tells whether a name means the session that comes from stdin. */
export function isPiped(name: string): boolean {
  return name === PIPED || STDIN_FILES.includes(name);
}

/** Returns what facts about a session say of where it is. */
export function getLocationFact({ text, json }: SessionLocation): readonly [name: string, value: string] {
  return "store" in json ? ["store", json.store] : ["file", text];
}

/** Opens a session that was read before, has something done to it, and makes sure that it is written. */
export async function changeSession<T>(
  session: NamedSession,
  change: (opened: SessionManager) => T | Promise<T>,
): Promise<T> {
  const opened = await session.open();
  try {
    return await change(opened);
  } finally {
    await opened.close();
  }
}

/** Returns the session in a file. What reads and changes it is loaded when it is needed. */
export function makeFileSession(path: string, { now }: Pick<CliIo, "now">): NamedSession {
  return {
    location: { text: path, json: { path } },
    path,
    id: undefined,
    read: async () => (await import("../../session/manager/session-view.ts")).SessionView.at(path),
    open: async (mode = undefined) => {
      const manager = await import("../../session/manager/session-manager.ts");
      // A copy of it is asked for, and is written even without a conversation.
      const reading = mode && { mode, createAtOnce: true };
      return manager.SessionManager.open(path, { ...reading, now });
    },
    bytes: async function* () {
      const { readFileBytes: bytesOfFile } = await import("../../stores/file/file-store.ts");
      yield* bytesOfFile(path);
    },
    row: async () => (await import("../../catalog/list/file-summary.ts")).summarizeSession(path),
    delete: async (options) => {
      const { deleteSession } = await import("../../catalog/trash/trash.ts");
      return (await deleteSession(path, options)).method;
    },
  };
}

/** Returns the session that comes from stdin, which is read once, when it is needed, and only looked at. */
export function makePipedSession({ stdin }: CliIo): NamedSession {
  let bytes: Promise<Uint8Array> | undefined;
  const read = async function* () {
    bytes ??= readAll(stdin);
    yield await bytes;
  };
  const refuse = async () => {
    throw makeReadOnlyError();
  };
  const view = async () =>
    (await import("../../session/manager/session-view.ts")).SessionView.inMemory(
      read(),
      "Standard input",
      "stdin",
    );
  return {
    location: { text: STDIN_TEXT, json: { path: PIPED } },
    path: undefined,
    id: undefined,
    read: view,
    open: refuse,
    bytes: read,
    row: async () => (await import("../../catalog/list/file-summary.ts")).makeRowOfLines((await view()).log),
    delete: refuse,
  };
}

/** @throws {UsageError} If stdin is a terminal, from which no session comes. */
async function readAll(stdin: CliIo["stdin"]): Promise<Uint8Array> {
  if (stdin === undefined || stdin.isTTY === true) {
    throw new UsageError(
      '"-" reads a session from standard input; pipe one in, as in "sessiontree tree - < FILE".',
    );
  }
  const { buffer } = await import("node:stream/consumers");
  const bytes = await buffer(stdin);
  if (bytes.length > 0) return bytes;
  throw new SessionError(
    "NOT_A_SESSION",
    "Standard input is empty. Check that the command before the pipe wrote a session.",
  );
}

/** The error for what would change the session that comes from stdin. */
export function makeReadOnlyError(): UsageError {
  return new UsageError("A session from standard input can only be read; save it to a file, and name that.");
}
