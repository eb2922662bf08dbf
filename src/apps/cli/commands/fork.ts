import type { Command } from "../command.ts";
import { argument, optionalArgument } from "../parameters.ts";
import { writeNewSession } from "../view/new-session.ts";

const SESSION = argument("<session>", "the session");
const ENTRY = optionalArgument(
  "[entry]",
  "the entry to end with: its id or the beginning of it, its label, or @leaf; the leaf unless given",
);

/** `sessiontree fork`: copies the path to an entry into a session of its own. */
export const command: Command = {
  details: `The new session is made in the same folder or database, with the labels of the copied entries. It records which session it comes from; the original does not change.`,
  parameters: [SESSION, ENTRY],
  examples: [
    ["fork session.jsonl 1a2b3c4d", "up to an entry, that one included"],
    ["fork @last works", "up to the entry that is labelled so"],
  ],
  run: async (call) => {
    const session = await call.findKeptSession(call.get(SESSION));
    const entryId = (await session.read()).findEntry(call.get(ENTRY) ?? "@leaf");
    await writeNewSession(call, (await session.open("read-only")).forkSibling(entryId));
  },
};
