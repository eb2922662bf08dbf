import { takeStart } from "../../core/context/message-parts.ts";
import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { getResultCallId, getToolCalls } from "../../core/facts/tool-calls.ts";
import type { Answer } from "./answer.ts";
import { countArgument, optionalText, switchArgument } from "./argument.ts";
import type { Cleaner } from "./cleaner.ts";
import { formatEntryHeading, formatEntryText } from "./entry-text.ts";
import { MAX_BYTES, type RecallTool, SESSION } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

const MAX_AROUND = 10;

/** Maximum number of entries added to keep calls and results together. */
const MAX_ADDED = 20;

/** Number of entries, including the leaf, that are read if the call does not specify an entry. */
const LAST = 6;

const ENTRY = optionalText(
  "entry",
  "id of an entry, or its label; default: the last entries of the active branch",
);
const BEFORE = countArgument(["before", "entries before it"], { max: MAX_AROUND, fallback: 2 });
const AFTER = countArgument(["after", "entries after it, on its branch"], { max: MAX_AROUND, fallback: 4 });
const CHARACTERS = countArgument(["max_chars_per_entry", "characters shown of each entry"], {
  min: 100,
  max: 20_000,
  fallback: 1200,
});
const OFFSET = countArgument(["offset", "characters of the named entry to skip, to continue in a long one"], {
  max: 1_000_000_000,
  fallback: 0,
});
const THINKING = switchArgument("thinking", "also what the model thought");

/** Tool that reads entries of a session in full. */
export const readEntriesTool: RecallTool = {
  name: "read_entries",
  title: "Read past entries",
  description:
    "Reads the conversation of a past session from memory, around an entry that search_sessions found in the history: what was said, called and returned. A call is never shown without its result.",
  arguments: [SESSION, ENTRY, BEFORE, AFTER, CHARACTERS, OFFSET, THINKING, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const session = await recall.find(get(SESSION));
    const name = get(ENTRY);
    const at = name === undefined ? session.view.leaf : session.findOrdinal(name);
    if (at < 0) {
      answer.add(await recall.formatRow(session.row));
      answer.note("The session has no entries.");
      return;
    }
    const offset = name === undefined ? 0 : get(OFFSET);
    const path = session.pathThrough(at);
    const before = name === undefined ? LAST - 1 : get(BEFORE);
    const shown =
      offset > 0
        ? { first: path.indexOf(at), last: path.indexOf(at) }
        : getWindow(session, path, at, before, get(AFTER));
    answer.add(await recall.formatRow(session.row));
    const entries = path.slice(shown.first, shown.last + 1);
    const end = writeEntries(answer, session, entries, {
      cleaner: recall.cleaner,
      max: get(CHARACTERS),
      offset,
      withThinking: get(THINKING),
    });
    noteRest(answer, session, path, { ...shown, end });
  },
};

interface Window {
  readonly first: number;
  readonly last: number;
}

function getWindow(
  session: RecalledSession,
  path: readonly number[],
  at: number,
  before: number,
  after: number,
): Window {
  const position = path.indexOf(at);
  let first = Math.max(0, position - before);
  let last = Math.min(path.length - 1, position + after);
  const idAt = (i: number) => getResultCallId(session.entryAt(path[i] ?? at));
  for (let added = 0; added < MAX_ADDED && first > 0 && idAt(first) !== ""; added++) first--;
  const calls = new Set(
    path
      .slice(first, last + 1)
      .flatMap((ordinal) => getToolCalls(session.entryAt(ordinal)).map(({ id }) => id)),
  );
  for (let added = 0; added < MAX_ADDED && last + 1 < path.length && calls.has(idAt(last + 1)); added++)
    last++;
  return { first, last };
}

/** Position within its entries where an answer ended. */
interface End {
  /** First entry that is not shown completely, by position in the list; the list's length if all entries are shown completely. */
  readonly position: number;
  readonly shown: number;
  /** Number of entries shortened because the caller limited their length. */
  readonly shortened: number;
}

/** Limits on the content of entries that is shown. */
interface Reading {
  readonly cleaner: Cleaner;
  /** Maximum number of characters per entry. */
  readonly max: number;
  /** Number of characters of the first entry to skip. */
  readonly offset: number;
  readonly withThinking: boolean;
}

function writeEntries(
  answer: Answer,
  session: RecalledSession,
  ordinals: readonly number[],
  { cleaner, max, offset, withThinking }: Reading,
): End {
  let shortened = 0;
  for (const [position, ordinal] of ordinals.entries()) {
    const text = cleaner.cleanText(formatEntryText(session.entryAt(ordinal), withThinking));
    const part = takeStart(text.slice(offset), max);
    const left = text.length - offset - part.length;
    if (!answer.add(`— ${formatEntryHeading(session, ordinal)}`))
      return { position, shown: offset, shortened };
    const added = answer.addText(part);
    if (added < part.length) return { position, shown: offset + added, shortened };
    if (left > 0) {
      shortened++;
      const rest = `[${formatCount(left)} more characters: entry ${session.tree.idAt(ordinal)}, offset ${offset + part.length}]`;
      if (!answer.add(rest)) return { position, shown: offset + added, shortened };
    }
  }
  return { position: ordinals.length, shown: 0, shortened };
}

function noteRest(
  answer: Answer,
  { tree }: RecalledSession,
  path: readonly number[],
  { first, last, end }: Window & { readonly end: End },
): void {
  const idAt = (i: number) => JSON.stringify(tree.idAt(path[i] ?? 0));
  const next = first + end.position;
  if (next <= last) {
    const offset = end.shown > 0 ? `, "offset": ${end.shown}` : "";
    answer.addLast(`Cut at max_bytes. To continue: {"entry": ${idAt(next)}, "before": 0${offset}}`);
  } else if (last + 1 < path.length) {
    answer.addLast(
      `After it on this branch: ${formatCounted(path.length - last - 1, "entry", "entries")}, {"entry": ${idAt(last + 1)}, "before": 0}`,
    );
  }
  if (first > 0)
    answer.addLast(
      `Before it: ${formatCounted(first, "entry", "entries")}, {"entry": ${idAt(first - 1)}, "after": 0}`,
    );
}
