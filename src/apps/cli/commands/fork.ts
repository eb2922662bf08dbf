import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { CONTINUING_AGENTS } from "../../../interop/continue/exported-session.ts";
import { copyLines } from "../../../session/log/canonical-copy.ts";
import { planWholeFork } from "../../../session/manager/fork.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { makeHeader } from "../../../session/manager/session-options.ts";
import { fileStore } from "../../../stores/file/file-store.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import type { Command, CommandCall } from "../command.ts";
import { argument, flag, optionalArgument } from "../parameters.ts";
import { getScope } from "../session-argument.ts";
import { parseStoreAddress, STORE_VARIABLE } from "../store-address.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = argument("<session>", "the session");
const ENTRY = optionalArgument(
  "[entry]",
  "the last entry to copy: its id or the beginning of it, its label, or @leaf; default: the leaf",
);
const HERE = flag("--here", "copy all branches into a session of the project in the current folder");

/** `sessiontree fork`: copies the path to an entry, or all entries, to a new session. */
export const command: Command = {
  details: `The new session is created in the same folder or database, with the labels of the copied entries; without an entry, it contains the active branch. It records the session that it was forked from; the original does not change.`,
  parameters: [SESSION, ENTRY, HERE],
  examples: [
    ["fork @last", "the active branch of the latest session"],
    ["fork session.jsonl 1a2b3c4d", "up to and including an entry"],
    ["fork ../other/session.jsonl --here", "a whole session of another project, into this one"],
  ],
  run: async (call) => writeNewSession(call, await (call.get(HERE) ? forkHere(call) : forkBranch(call))),
};

async function forkBranch({ get, findKeptSession }: CommandCall): Promise<SessionManager> {
  const session = await findKeptSession(get(SESSION));
  const entryId = (await session.read()).findEntry(get(ENTRY) ?? "@leaf");
  return (await session.open("read-only")).fork({ at: entryId });
}

/** Copies all branches. `--dir` applies only to the source, not to this project's sessions. */
async function forkHere({ get, findSession, io, stored }: CommandCall): Promise<SessionManager> {
  if (get(ENTRY) !== undefined) throw new UsageError("--here copies all branches; leave out the entry.");
  const session = await findSession(get(SESSION));
  const { sessionDir } = getScope({ io, dir: undefined }, false);
  const store = (await stored?.store()) ?? fileStore(sessionDir === undefined ? {} : { sessionDir });
  const { log } = await session.read();
  const parentSession = session.path ?? session.id ?? log.index.header?.id ?? "";
  const header = makeHeader(io.cwd, io.now(), { parentSession });
  const id = await store.importBytes(encodeLines(copyLines(log, planWholeFork(log, header))));
  return await store.open(id, { mode: "read-only" });
}

async function* encodeLines(lines: Iterable<string | Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for (const line of lines) yield Buffer.from(line);
}

/** Closes a session that was created from another session, prints its path or id, and describes it on stderr. */
async function writeNewSession(call: CommandCall, session: SessionManager): Promise<void> {
  const { json, note, out, stored } = call;
  const path = session.getSessionFile();
  const id = session.getSessionId();
  const entries = session.getEntryCount();
  const [parentSession, leafId] = [session.getHeader()?.parentSession, session.getLeafId()];
  await session.close();
  const location = path === undefined ? stored?.getLocation(id).json : { path };
  if (json) {
    out.json({ id, ...location, parentSession, entryCount: entries, leafId });
    return;
  }
  out.path(path ?? id);
  const where = path === undefined ? `a session in ${toPlainLine(stored?.address ?? "")}` : `session ${id}`;
  note(`Copied ${formatCounted(entries, "entry", "entries")} into ${where}.`);
  const [first] = CONTINUING_AGENTS;
  const agents = new Intl.ListFormat("en", { type: "disjunction" }).format(CONTINUING_AGENTS);
  const name = quoteForShell(toPlainLine(path ?? id));
  note(`To continue it in ${agents}: sessiontree continue ${name}${formatStoreOption(call)} --in ${first}`);
}

/** Formats the option that names the database, unless the variable does: its address may have a password, which is not printed. */
function formatStoreOption({ stored, io }: CommandCall): string {
  if (stored === undefined) return "";
  const variable = io.env[STORE_VARIABLE];
  const isInVariable = variable && parseStoreAddress(variable, STORE_VARIABLE).shown === stored.address;
  return isInVariable ? "" : ` --store ${quoteForShell(toPlainLine(stored.address))}`;
}
