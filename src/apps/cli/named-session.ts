import { SessionError } from "../../core/format/errors.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { SessionView } from "../../session/manager/session-view.ts";
import type { CliIo } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/** Location of a session. */
export interface SessionLocation {
  /** For people: the path, or the id and the database. */
  readonly text: string;
  /** For programs: `path`, or `id` and `store`. */
  readonly json: { readonly path: string } | { readonly id: string; readonly store: string };
}

/** Session that a command line refers to: in a file, a database, or stdin. */
export interface NamedSession {
  readonly location: SessionLocation;
  /** Absolute path of its file, for operations that only files support; undefined if there is no file. */
  readonly path: string | undefined;
  /** Id in the database; undefined for sessions outside a database. */
  readonly id: string | undefined;
  /** Reads the session for viewing. */
  read(): Promise<SessionView>;
  /** Opens the session for appending or watching; throws for a session from stdin. */
  open(mode?: "read-only"): Promise<SessionManager>;
  /** Yields the session's bytes in chunks; each chunk is valid until the next one is requested. */
  bytes(): AsyncIterable<Uint8Array>;
  /** Returns the session's list row; undefined if it is not a session. */
  row(): Promise<SessionRow | undefined>;
  /** Deletes the session; from a database, permanently. */
  delete(options: { readonly permanent: boolean; readonly force: boolean }): Promise<"trash" | "permanent">;
}

const PIPED = "-";

/** Other names of stdin; they never refer to files. */
const STDIN_FILES = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/** Name shown in the output for the session from stdin. */
const STDIN_TEXT = "standard input";

/** Returns whether a name refers to the session from stdin. */
export function isPiped(name: string): boolean {
  return name === PIPED || STDIN_FILES.includes(name);
}

/** Returns a session's location as a fact to display. */
export function getLocationFact({ text, json }: SessionLocation): readonly [name: string, value: string] {
  return "store" in json ? ["store", json.store] : ["file", text];
}

/** Opens a session that was read before, applies a change, and ensures that it is written. */
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

/** Returns the session in a file. Loads the code for reading and changing it on demand. */
export function makeFileSession(path: string, { now }: Pick<CliIo, "now">): NamedSession {
  return {
    location: { text: path, json: { path } },
    path,
    id: undefined,
    read: async () => (await import("../../session/manager/session-view.ts")).SessionView.at(path),
    open: async (mode = undefined) => {
      const manager = await import("../../session/manager/session-manager.ts");
      // A copy of a read-only session is written even if it contains no conversation.
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

/** Returns the session from stdin, which is read once, on demand, and cannot be changed. */
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

/** @throws {UsageError} If stdin is missing or is a terminal. */
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

/** Creates the error for an attempt to change the session from stdin. */
export function makeReadOnlyError(): UsageError {
  return new UsageError(
    "A session from standard input can only be read; save it to a file, and use that file.",
  );
}
