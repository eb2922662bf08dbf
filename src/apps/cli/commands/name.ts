import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import type { Command, CommandCall } from "../command.ts";
import { changeSession, type NamedSession } from "../named-session.ts";
import { argument, flag, optionalArgument } from "../parameters.ts";
import { UsageError } from "../usage-error.ts";
import { listIds } from "../view/entry-line.ts";

const SESSION = argument("<session>", "the session");
const NAME = optionalArgument("[name-or-entry]", "the new name; or an entry, to show or set its label");
const LABEL = optionalArgument("[label]", "the new label of the entry");
const CLEAR = flag("--clear", "remove the name, or the label of the entry");

/** Minimum length of a word that can be the beginning of an id; a shorter word is treated as a name. */
const MIN_ID_LENGTH = 8;

/** `sessiontree name`: shows or sets the name of a session, or the label of an entry. */
export const command: Command = {
  details: `With only a session, it shows the name. A word after it is the new name, unless it is @leaf, the id of an entry, or at least eight characters of its beginning: then the label of that entry is shown. With a label after it, or --clear, the entry can be named by its label or any beginning of its id, too. In other commands, a label can replace the id of its entry.`,
  parameters: [SESSION, NAME, LABEL, CLEAR],
  examples: [
    ["name @last Bugfix", "name the latest session of this project"],
    ["name session.jsonl", "show the name"],
    ["name @last @leaf works", "label the entry where it works"],
    ["name session.jsonl 1a2b3c4d", "show the label of an entry"],
    ["name session.jsonl works --clear", "remove the label"],
    ["name session.jsonl --clear", "remove the name"],
  ],
  run: async (call) => {
    const { findSession, get } = call;
    const [word, label, isCleared] = [get(NAME), get(LABEL), get(CLEAR)];
    if (isCleared && label !== undefined) throw new UsageError("Give a label or --clear, not both.");
    const session = await findSession(get(SESSION));
    const view = await session.read();
    if (word !== undefined && (isCleared || label !== undefined || isEntry(view, word)))
      await labelEntry(call, session, view, view.findEntry(word), isCleared ? null : label);
    else await nameSession(call, session, view, isCleared ? "" : word);
  },
};

function isEntry(view: SessionView, word: string): boolean {
  if (word === "@leaf") return true;
  return word.length >= MIN_ID_LENGTH && [...listIds(view.tree)].some((id) => id.startsWith(word));
}

/** Sets the session's name, or displays it if no new name is given. */
async function nameSession(
  { json, out }: CommandCall,
  session: NamedSession,
  view: SessionView,
  wanted: string | undefined,
): Promise<void> {
  const isChanged = wanted !== undefined;
  const name = isChanged
    ? await changeSession(session, (opened) => {
        opened.appendSessionInfo(wanted);
        return opened.getSessionName();
      })
    : view.name;
  if (json) out.json({ id: view.header?.id, ...session.location.json, name: name ?? null });
  else if (name === undefined) out.line("The session has no name.");
  else out.line(isChanged ? `The session is named "${toPlainLine(name)}".` : toPlainLine(name));
}

/** Sets an entry's label, removes it if the new label is null, or displays it if no new label is given. */
async function labelEntry(
  { json, out }: CommandCall,
  session: NamedSession,
  view: SessionView,
  entry: string,
  wanted: string | null | undefined,
): Promise<void> {
  const isChanged = wanted !== undefined;
  const label = isChanged
    ? await changeSession(session, (opened) => {
        opened.appendLabelChange(entry, wanted ?? undefined);
        return opened.getLabel(entry);
      })
    : view.labels.get(entry)?.label;
  if (json) out.json({ id: view.header?.id, ...session.location.json, entry, label: label ?? null });
  else if (label === undefined) out.line(`Entry ${toPlainLine(entry)} has no label.`);
  else
    out.line(
      isChanged ? `Entry ${toPlainLine(entry)} is labeled "${toPlainLine(label)}".` : toPlainLine(label),
    );
}
