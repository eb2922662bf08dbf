import {
  importOriginInFront,
  isWholeFront,
  markDeletedImport,
  unmarkDeletedImport,
} from "../../catalog/deleted-imports.ts";
import type { SessionRow } from "../../catalog/session-row.ts";
import { isSessionError } from "../../schema/errors.ts";
import type { ImportOrigin } from "../../schema/import-origin.ts";
import type { SessionStore } from "../../stores/session-store.ts";
import { plainLine } from "../../view/plain.ts";
import { counted } from "../../view/words.ts";
import type { CommandCall } from "../command.ts";
import { confirm } from "../confirm.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { ago } from "../text/times.ts";
import { UsageError } from "../usage-error.ts";
import { sessionLine } from "../view/session-line.ts";
import type { StoredSessions } from "./stored-sessions.ts";

/**
 * Finds the sessions of a database that are named, each once.
 *
 * @returns Empty if all that is named are files.
 * @throws {UsageError} If both are.
 * @throws {SessionError} As `StoredSessions.find`.
 */
export async function findStored(
  stored: StoredSessions,
  names: readonly string[],
): Promise<readonly SessionRow[]> {
  const found = new Map<string, SessionRow>();
  const files: string[] = [];
  for (const name of names) {
    const session = await stored.find(name);
    if (session === undefined) files.push(name);
    else found.set(session.id, session);
  }
  if (files.length > 0 && found.size > 0) {
    throw new UsageError(`${files[0]} is a file, and others are in the database; name them apart.`);
  }
  return [...found.values()];
}

/** Removes sessions from a database, for good, if that is meant. */
export async function removeStored(
  call: CommandCall,
  stored: StoredSessions,
  sessions: readonly SessionRow[],
  isConfirmed: boolean,
): Promise<ExitCode> {
  if (!isConfirmed && !(await isMeant(call, stored, sessions))) {
    call.warn("Nothing was deleted.");
    return EXIT_CODES.failed;
  }
  const store = await stored.store();
  let exitCode: ExitCode = EXIT_CODES.ok;
  for (const { id } of sessions) {
    const { json, text } = stored.locationOf(id);
    try {
      const origin = await originInStore(store, id);
      const isMarked = origin !== undefined && markDeletedImport(origin);
      await store.delete(id).catch((error: unknown) => {
        if (isMarked) unmarkDeletedImport(origin);
        throw error;
      });
      if (call.json) call.out.json({ ...json, method: "permanent" });
      else call.out.line(`Deleted for good: ${plainLine(text)}`);
    } catch (error) {
      if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
      call.warn(error.message);
      exitCode = EXIT_CODES.failed;
    }
  }
  return exitCode;
}

/** Returns where a session was imported from. */
async function originInStore(store: SessionStore, id: string): Promise<ImportOrigin | undefined> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.exportBytes(id)) {
    pieces.push(piece);
    if (isWholeFront(Buffer.concat(pieces))) break;
  }
  return importOriginInFront(Buffer.concat(pieces));
}

function isMeant(
  call: CommandCall,
  { address }: StoredSessions,
  sessions: readonly SessionRow[],
): Promise<boolean> {
  const { io, out } = call;
  const now = io.now?.() ?? Date.now();
  const lines = sessions.map((session) => {
    const facts = `${counted(session.messageCount, "message")}, last used ${ago(session.modified.getTime(), now)}`;
    return `${sessionLine(session, out.width)}\n  ${facts}`;
  });
  const what = sessions.length === 1 ? "it" : `these ${counted(sessions.length, "session")}`;
  return confirm(call, [...lines, `Delete ${what} from ${plainLine(address)} for good?`].join("\n"));
}
