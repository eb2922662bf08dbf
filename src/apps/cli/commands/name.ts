import { plainLine } from "../../../core/facts/plain-text.ts";
import type { Command } from "../command.ts";
import { changeSession } from "../named-session.ts";
import { argument, flag, optionalArgument } from "../parameters.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = argument("<session>", "the session");
const NAME = optionalArgument("[name]", "the new name; without one, the current name is shown");
const CLEAR = flag("--clear", "remove the name");

/** `sessiontree name`: shows or sets the display name of a session. */
export const command: Command = {
  parameters: [SESSION, NAME, CLEAR],
  examples: [
    ["name @last Bugfix", "name the latest session of this project"],
    ["name session.jsonl", "show the name"],
    ["name session.jsonl --clear", "remove it"],
  ],
  run: async ({ findSession, get, json, out }) => {
    const wanted = get(NAME);
    const isCleared = get(CLEAR);
    if (isCleared && wanted !== undefined) throw new UsageError("Give a name or --clear, not both.");
    const named = await findSession(get(SESSION));
    const view = await named.read();
    const isChanged = isCleared || wanted !== undefined;
    const name = isChanged
      ? await changeSession(named, (session) => {
          session.appendSessionInfo(wanted ?? "");
          return session.getSessionName();
        })
      : view.name;
    if (json) out.json({ id: view.header?.id, ...named.location.json, name: name ?? null });
    else if (name === undefined) out.line("The session has no name.");
    else out.line(isChanged ? `The session is named "${plainLine(name)}".` : plainLine(name));
  },
};
