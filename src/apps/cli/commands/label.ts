import { plainLine } from "../../../core/facts/plain-text.ts";
import type { Command } from "../command.ts";
import { changeSession } from "../named-session.ts";
import { argument, flag, optionalArgument } from "../parameters.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = argument("<session>", "the session");
const ENTRY = argument("<entry>", "the entry: its id or the beginning of it, its label, or @leaf");
const LABEL = optionalArgument("[label]", "the new label; without one, the current label is shown");
const CLEAR = flag("--clear", "remove the label");

/** `sessiontree label`: shows or sets the label of an entry. */
export const command: Command = {
  details: "On the command line, a label can stand for the id of its entry.",
  parameters: [SESSION, ENTRY, LABEL, CLEAR],
  examples: [
    ["label @last @leaf works", "mark the place where it works"],
    ["label session.jsonl 1a2b3c4d", "show the label"],
    ["label session.jsonl works --clear", "remove it"],
  ],
  run: async ({ findSession, get, json, out }) => {
    const wanted = get(LABEL);
    const isCleared = get(CLEAR);
    if (isCleared && wanted !== undefined) throw new UsageError("Give a label or --clear, not both.");
    const named = await findSession(get(SESSION));
    const view = await named.read();
    const entryId = view.findEntry(get(ENTRY));
    const isChanged = isCleared || wanted !== undefined;
    const label = isChanged
      ? await changeSession(named, (session) => {
          session.appendLabelChange(entryId, wanted);
          return session.getLabel(entryId);
        })
      : view.labels.get(entryId)?.label;
    const entry = plainLine(entryId);
    if (json) out.json({ id: view.header?.id, ...named.location.json, entry: entryId, label: label ?? null });
    else if (label === undefined) out.line(`Entry ${entry} has no label.`);
    else out.line(isChanged ? `Entry ${entry} is labelled "${plainLine(label)}".` : plainLine(label));
  },
};
