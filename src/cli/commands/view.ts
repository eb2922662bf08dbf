import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { writeNewFile } from "../export/new-file.ts";
import { sessionPage } from "../page/session-page.ts";
import { argument, flag, textOption } from "../parameters.ts";
import { printPath } from "../print-path.ts";
import { SessionView } from "../session-view.ts";
import { counted } from "../text/words.ts";

const SESSION = argument("<session>", "the session");
const LEAF = textOption(
  "--leaf <entry>",
  "open at the path to this entry: an id or its beginning, or a label",
);
const FILE = {
  ...textOption("--output <file>", "write to this new file instead of a temporary one"),
  form: "-o, --output <file>",
};
// An option whose name begins with "no-" is true unless it is given.
const OPEN = flag("--no-open", "only write the page and print where it is");

/** `sessiontree view`: shows a session as a page in the browser. */
export const viewCommand: Command = {
  details: `Writes one HTML file that holds everything and loads nothing: the tree, every branch,
what the model sees at any entry, search, and what was used. Without a terminal it is
only written, and its path printed. A file that is there already is not replaced.`,
  parameters: [SESSION, LEAF, FILE, OPEN],
  examples: [
    ["view @last", "the latest session of this project"],
    ["view session.jsonl -o session.html --no-open", "a page to keep or to send"],
  ],
  run: async (call) => {
    const { findSession, get, io, json, note, out } = call;
    const session = new SessionView(await findSession(get(SESSION)));
    const wanted = get(LEAF);
    const leaf = wanted === undefined ? session.leaf : session.tree.find(session.findEntry(wanted));
    const page = sessionPage(session, leaf);
    const file = get(FILE);
    const path = file === undefined ? temporaryPath(session.path) : resolve(io.cwd, file);
    writeNewFile(path, [page]);
    const entries = session.tree.size;
    if (json) out.json({ path, entries });
    else {
      printPath(call, path);
      note(`Wrote a page of ${counted(entries, "entry", "entries")}.`);
    }
    await openPage(call, path);
    return EXIT_CODES.ok;
  },
};

/** A place in a folder of its own, which only its owner can enter. */
function temporaryPath(sessionPath: string): string {
  const name = basename(sessionPath).replace(/\.jsonl$/, "");
  return join(mkdtempSync(join(tmpdir(), "sessiontree-")), `${name}.html`);
}

async function openPage({ get, io, warn }: CommandCall, path: string): Promise<void> {
  if (!get(OPEN) || io.open === undefined) return;
  if (!(await io.open(path)))
    warn("Cannot find a program to open the page with; open it in a browser yourself.");
}
