import { SessionManager } from "../../manager/session-manager.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { argument, flag } from "../parameters.ts";
import { sessionScope } from "../session-argument.ts";
import { SessionView } from "../session-view.ts";
import { forkSession, writeNewSession } from "../view/new-session.ts";

const SESSION = argument("<session>", "the session");
const HERE = flag("--here", "copy all branches into a session of the project in the current folder");

/** `sessiontree clone`: copies the active branch, or everything, into another session. */
export const cloneCommand: Command = {
  details: `Copies the active branch into the same folder or database. The copy records which session it comes from; the original does not change.`,
  parameters: [SESSION, HERE],
  examples: [
    ["clone @last", "the active branch of the latest session"],
    ["clone ../other/session.jsonl --here", "a whole session of another project, into this one"],
  ],
  run: async (call) => {
    const isHere = call.get(HERE);
    const find = isHere ? call.findSession : call.findKeptSession;
    const view = new SessionView(await find(call.get(SESSION)));
    const clone = isHere
      ? await cloneHere(call, view.path)
      : await forkSession(call, view.path, view.findEntry("@leaf"));
    await writeNewSession(call, clone);
    return EXIT_CODES.ok;
  },
};

/** What `--dir` says is about where the source is looked for, and not about this project's sessions. */
async function cloneHere({ io, stored }: CommandCall, path: string): Promise<SessionManager> {
  if (stored !== undefined) return stored.cloneHere(path);
  const { sessionDir } = sessionScope({ io, dir: undefined }, false);
  return SessionManager.forkFrom(path, io.cwd, sessionDir === undefined ? {} : { sessionDir });
}
