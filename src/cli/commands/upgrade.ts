import { CURRENT_SESSION_VERSION } from "../../schema/version.ts";
import { changeSession } from "../change-session.ts";
import type { Command } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { argument } from "../parameters.ts";
import { SessionView } from "../session-view.ts";
import { plainLine } from "../text/plain.ts";

const SESSION = argument("<session>", "the session");

/** `sessiontree upgrade`: rewrites a session of an older version in the current one. */
export const upgradeCommand: Command = {
  name: "upgrade",
  summary: "Rewrite a session of an older version in the current one",
  details: `The original stays beside the file (.v1.bak, .v2.bak). Whatever appends to an
older file does this by itself; a file of the current version is left alone.`,
  filesOnly: "In a database a session of an older version is brought to the current one by its first append.",
  parameters: [SESSION],
  examples: [["upgrade session.jsonl", "so that older entries have ids and parents in the file"]],
  run: async ({ findSession, get, io, json, out }) => {
    const { path, version } = new SessionView(await findSession(get(SESSION)));
    const backup = await changeSession(path, io, (session) => session.upgrade());
    if (json) out.json({ path, version, backup: backup ?? null });
    else if (backup === undefined) out.line(`Nothing to do: the file is of version ${version} already.`);
    else {
      out.line(`Upgraded from version ${version} to ${CURRENT_SESSION_VERSION}; the original is`);
      out.line(plainLine(backup));
    }
    return EXIT_CODES.ok;
  },
};
