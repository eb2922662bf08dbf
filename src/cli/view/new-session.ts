import { SessionManager } from "../../manager/session-manager.ts";
import { plainLine } from "../../view/plain.ts";
import { counted } from "../../view/words.ts";
import type { CommandCall } from "../command.ts";
import { printPath } from "../print-path.ts";

/**
 * Copies the path to an entry into a session of its own, where the first one is.
 *
 * @param path - What `findSession` gave.
 * @returns The copy; it is there when it is closed.
 */
export async function forkSession(
  { stored }: CommandCall,
  path: string,
  entryId: string,
): Promise<SessionManager> {
  const id = stored?.idOf(path);
  const session =
    stored === undefined || id === undefined
      ? SessionManager.open(path, { mode: "read-only", createAtOnce: true })
      : await stored.open(id);
  return session.forkSibling(entryId);
}

/** Closes a session that was made of another, prints its path or id, and says on stderr what it is. */
export async function writeNewSession(call: CommandCall, session: SessionManager): Promise<void> {
  const { json, note, out, stored } = call;
  const path = session.getSessionFile();
  const id = session.getSessionId();
  const entries = session.getEntryCount();
  const [parentSession, leafId] = [session.getHeader()?.parentSession, session.getLeafId()];
  await session.close();
  const location = path === undefined ? stored?.locationOf(id).json : { path };
  if (json) {
    out.json({ id, ...location, parentSession, entryCount: entries, leafId });
    return;
  }
  printPath(call, path ?? id);
  note(`Copied ${counted(entries, "entry", "entries")} into ${whereOf(id, path, stored?.address)}.`);
}

function whereOf(id: string, path: string | undefined, address = ""): string {
  return path === undefined ? `a session in ${plainLine(address)}` : `session ${id}`;
}
