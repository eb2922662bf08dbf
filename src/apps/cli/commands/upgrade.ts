import { plainLine } from "../../../core/facts/plain-text.ts";
import { CURRENT_SESSION_VERSION } from "../../../core/format/version.ts";
import type { Command } from "../command.ts";
import { changeSession, fileSession } from "../named-session.ts";
import { argument, flag } from "../parameters.ts";

const SESSION = argument("<session>", "the session");
const DRY_RUN = flag("--dry-run", "only say what would be done");

/** `sessiontree upgrade`: rewrites a session of an older version in the current one. */
export const command: Command = {
  details: `The original stays beside the file (.v1.bak, .v2.bak). The first append to an older file upgrades it as well; a file of the current version is left alone.`,
  filesOnly: "In a database, the first append upgrades a session of an older version.",
  parameters: [SESSION, DRY_RUN],
  examples: [
    ["upgrade session.jsonl", "give older entries their ids and parents in the file"],
    ["upgrade session.jsonl --dry-run", "only say what would be done"],
  ],
  run: async ({ findFile, get, io, json, out }) => {
    const path = await findFile(get(SESSION));
    const session = fileSession(path, io);
    const { header, version } = await session.read();
    if (get(DRY_RUN)) {
      const isOld = version < CURRENT_SESSION_VERSION;
      const plan = `Would be upgraded from version ${version} to ${CURRENT_SESSION_VERSION}; nothing was changed.`;
      if (json) out.json({ id: header?.id, path, version, wouldUpgrade: isOld });
      else out.prose(isOld ? plan : nothingToDo(version));
      return;
    }
    const backup = await changeSession(session, (opened) => opened.upgrade());
    if (json) out.json({ id: header?.id, path, version, backup: backup ?? null });
    else if (backup === undefined) out.prose(nothingToDo(version));
    else {
      out.line(`Upgraded from version ${version} to ${CURRENT_SESSION_VERSION}; the original is`);
      out.line(plainLine(backup));
    }
  },
};

function nothingToDo(version: number): string {
  return `Nothing to do: the file has version ${version} already.`;
}
