import { copyLines } from "../../../session/log/canonical-copy.ts";
import { planWhole } from "../../../session/manager/fork.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { newHeader } from "../../../session/manager/session-options.ts";
import { fileStore } from "../../../stores/file/file-store.ts";
import type { Command, CommandCall } from "../command.ts";
import type { NamedSession } from "../named-session.ts";
import { argument, flag } from "../parameters.ts";
import { sessionScope } from "../session-argument.ts";
import { writeNewSession } from "../view/new-session.ts";

const SESSION = argument("<session>", "the session");
const HERE = flag("--here", "copy all branches into a session of the project in the current folder");

/** `sessiontree clone`: copies the active branch, or everything, into another session. */
export const command: Command = {
  details: `Copies the active branch into the same folder or database. The copy records which session it comes from; the original does not change.`,
  parameters: [SESSION, HERE],
  examples: [
    ["clone @last", "the active branch of the latest session"],
    ["clone ../other/session.jsonl --here", "a whole session of another project, into this one"],
  ],
  run: async (call) => {
    const isHere = call.get(HERE);
    const find = isHere ? call.findSession : call.findKeptSession;
    const session = await find(call.get(SESSION));
    await writeNewSession(call, isHere ? await cloneHere(call, session) : await cloneBranch(session));
  },
};

async function cloneBranch(session: NamedSession): Promise<SessionManager> {
  const entryId = (await session.read()).findEntry("@leaf");
  return (await session.open("read-only")).forkSibling(entryId);
}

/** What `--dir` says is about where the source is looked for, and not about this project's sessions. */
async function cloneHere({ io, stored }: CommandCall, session: NamedSession): Promise<SessionManager> {
  const { sessionDir } = sessionScope({ io, dir: undefined }, false);
  const store = (await stored?.store()) ?? fileStore(sessionDir === undefined ? {} : { sessionDir });
  const { log } = await session.read();
  const parentSession = session.path ?? session.id ?? log.index.header?.id ?? "";
  const header = newHeader(io.cwd, io.now(), { parentSession });
  const id = await store.importBytes(encoded(copyLines(log, planWhole(log, header))));
  return await store.open(id, { mode: "read-only" });
}

async function* encoded(lines: Iterable<string | Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for (const line of lines) yield Buffer.from(line);
}
