import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { makePagePath } from "../../../session/files/page-files.ts";
import { isFolder } from "../../../session/fs/file-system.ts";
import { writeNewFile } from "../../../session/log/new-file.ts";
import type { Command, CommandCall } from "../command.ts";
import { countImportable } from "../importable-sessions.ts";
import { PageServer, type ServedIndex } from "../page/page-server.ts";
import { makeSessionPage } from "../page/session-page.ts";
import { flag, optionalArgument, textOption } from "../parameters.ts";
import { getPrices, PRICES } from "../prices.ts";
import { getScope, LATEST, listOtherFolders, makeFilePath, resolvePath } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = optionalArgument("[session]", "the session, or a folder of sessions; default: @last");
const ALL = flag("--all", "list the sessions of all projects to choose from");
const LIVE = flag("--live", "follow a session that is being written, until interrupted");
const LEAF = textOption("--leaf <entry>", "open at this entry: its id or the beginning of it, or its label");
const FILE = textOption("-o, --output <file>", "write to this new file instead of a temporary one");
// An option whose name begins with "no-" is true unless it is given.
const OPEN = flag("--no-open", "do not open a browser; only print the path or address of the page");

/** `sessiontree view`: shows a session as a page in the browser. */
export const command: Command = {
  details: `Writes one self-contained HTML file: the tree, every branch, what the model sees at
any entry, search, and usage. Without a terminal, the command only writes the file and
prints its path. An existing file is not replaced.
With --live, with --all, or for a folder, pages come from a server that only this
machine can reach, at an address that cannot be guessed. It stops with the command.`,
  parameters: [SESSION, ALL, LIVE, LEAF, PRICES, FILE, OPEN],
  examples: [
    ["view @last", "the latest session of this project"],
    ["view @last --live", "what an agent is doing"],
    ["view --all", "a list of all sessions, with search and costs"],
    ["view session.jsonl -o session.html --no-open", "a page to keep or to send"],
  ],
  run: async (call) => {
    const index = makeServedIndex(call);
    if (index !== undefined) await servePages(call, new PageServer(index), (server) => server.indexUrl);
    else if (call.get(PRICES) !== undefined)
      throw new UsageError("--prices is for a list of sessions: name a folder, or give --all.");
    else if (call.get(LIVE)) await serveSession(call);
    else await writePage(call);
  },
};

/** Returns the sessions to list; undefined if a single session was requested. */
function makeServedIndex(call: CommandCall): ServedIndex | undefined {
  const { get, io, stored } = call;
  const name = get(SESSION);
  const folder = name === undefined ? undefined : resolvePath(io.cwd, name);
  const hasFolder = folder !== undefined && isFolder(folder);
  if (!hasFolder && !get(ALL)) return undefined;
  if (get(ALL) && name !== undefined) throw new UsageError("Name a session, or give --all, not both.");
  if (stored !== undefined)
    throw new UsageError("A list shows sessions in files; name one session in the database.");
  if (get(FILE) !== undefined)
    throw new UsageError("A list of sessions cannot be written to a file; leave out -o.");
  if (get(LEAF) !== undefined) throw new UsageError("--leaf needs one session; name it.");
  if (hasFolder) return { scope: { sessionDir: folder }, name: folder, prices: getPrices(call) };
  const scope = { ...getScope(call, true), otherDirs: listOtherFolders(call) };
  return {
    scope,
    name: scope.sessionDir ?? "all projects",
    prices: getPrices(call),
    countImportable: scope.sessionDir === undefined ? () => countImportable(call.io) : undefined,
  };
}

async function serveSession(call: CommandCall): Promise<void> {
  const { findKeptSession, get } = call;
  if (get(FILE) !== undefined) throw new UsageError("--live writes no file; leave out -o.");
  const { path, read } = await findKeptSession(get(SESSION) ?? LATEST);
  if (path === undefined)
    throw new UsageError('--live follows files; "sessiontree tree --follow" follows a database.');
  const session = await read();
  const wanted = get(LEAF);
  const hash = wanted === undefined ? "" : `#${new URLSearchParams({ end: session.findEntry(wanted) })}`;
  await servePages(call, new PageServer(undefined), (server) => `${server.makeUrl(path)}${hash}`);
}

/** Opens the page at an address, and serves pages until the command is interrupted. */
async function servePages(
  call: CommandCall,
  server: PageServer,
  getUrl: (server: PageServer) => string,
): Promise<void> {
  const { io, json, out, warn } = call;
  const interrupted = io.untilInterrupted?.();
  let door: string | undefined;
  await server.start();
  try {
    const url = getUrl(server);
    if (json) out.json({ url });
    else out.line(url);
    out.flush();
    warn("Serving; press Ctrl-C to stop.");
    door = call.get(OPEN) && io.open !== undefined ? writeRedirectPage(url) : undefined;
    if (door !== undefined) await openPage(call, door);
    await new Promise<void>((resolve) => {
      if (interrupted?.aborted) resolve();
      else interrupted?.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await server.stop();
    if (door !== undefined) rmSync(dirname(door), { recursive: true, force: true });
  }
}

/**
 * Writes a page that redirects to an address, in a folder that only its owner can read: if the address itself were passed to a
 * browser as an argument, every user of the machine could read its token.
 */
function writeRedirectPage(url: string): string {
  const path = makePagePath("live");
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${url}"><title>sessiontree</title>\n`;
  writeNewFile({ path, pieces: [page] });
  return path;
}

async function writePage(call: CommandCall): Promise<void> {
  const { findSession, get, io, json, note, out } = call;
  const output = get(FILE);
  const file = output === undefined ? undefined : makeFilePath(io.cwd, output);
  const session = await (await findSession(get(SESSION) ?? LATEST)).read();
  const wanted = get(LEAF);
  const leaf = wanted === undefined ? session.leaf : session.tree.find(session.findEntry(wanted));
  const page = makeSessionPage(session, { leafId: leaf === NONE ? undefined : session.tree.idAt(leaf) });
  const path = file ?? makePagePath(session.fileName);
  writeNewFile({ path, pieces: [page] });
  const entries = session.tree.size;
  if (json) out.json({ path, entryCount: entries });
  else {
    out.path(path);
    note(`Wrote a page of ${formatCounted(entries, "entry", "entries")}.`);
  }
  await openPage(call, path);
}

async function openPage({ get, io, warn }: CommandCall, target: string): Promise<void> {
  if (!get(OPEN) || io.open === undefined) return;
  if (!(await io.open(target)))
    warn("Cannot find a program to open the page with; open it in a browser yourself.");
}
