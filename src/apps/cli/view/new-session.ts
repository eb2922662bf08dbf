import { counted } from "../../../core/facts/number-text.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { CommandCall } from "../command.ts";

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
  out.path(path ?? id);
  const where = path === undefined ? `a session in ${plainLine(stored?.address ?? "")}` : `session ${id}`;
  note(`Copied ${counted(entries, "entry", "entries")} into ${where}.`);
}
