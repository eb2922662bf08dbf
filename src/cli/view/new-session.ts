import type { SessionManager } from "../../manager/session-manager.ts";
import type { CommandCall } from "../command.ts";
import { plainLine } from "../text/plain.ts";
import { counted } from "../text/words.ts";

/** Says what session was made of another, and where its file is. */
export function writeNewSession({ json, out }: CommandCall, session: SessionManager): void {
  const path = session.getSessionFile() ?? "";
  const id = session.getSessionId();
  const entries = session.getEntryCount();
  if (json) {
    out.json({
      id,
      path,
      parentSession: session.getHeader()?.parentSession,
      entries,
      leafId: session.getLeafId(),
    });
    return;
  }
  out.line(`Session ${id} has ${counted(entries, "entry", "entries")} and stands in`);
  out.line(plainLine(path));
}
