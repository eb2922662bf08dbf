import { resolve } from "node:path";
import { SessionManager } from "../../manager/session-manager.ts";
import type { Command } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { argument, textOption } from "../parameters.ts";
import { SessionView } from "../session-view.ts";
import { plainLine } from "../text/plain.ts";
import { counted } from "../text/words.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = argument("<session>", "the session");
const JSONL = textOption("--jsonl <file>", "the new file: a session that holds the active branch");

/** `sessiontree export`: writes the active branch to a file of its own. */
export const exportCommand: Command = {
  name: "export",
  summary: "Write the active branch to a file",
  details: `The file is a session of the same id with that branch alone.
A file that is there already is not replaced.`,
  parameters: [SESSION, JSONL],
  examples: [["export @last --jsonl branch.jsonl", "the branch on which the session stands"]],
  run: async ({ findSession, get, io, json, out }) => {
    const wanted = get(JSONL);
    if (wanted === undefined) throw new UsageError("Say where to: add --jsonl and a file.");
    const view = new SessionView(await findSession(get(SESSION)));
    const session = SessionManager.open(view.path, { mode: "read-only" });
    const path = session.exportBranch(resolve(io.cwd, wanted));
    const entries = new SessionView(path).tree.size;
    if (json) out.json({ path, entries });
    else out.line(`Wrote ${counted(entries, "entry", "entries")} to ${plainLine(path)}`);
    return EXIT_CODES.ok;
  },
};
