import { beginningOf } from "../../core/facts/plain-text.ts";
import { callsIn } from "../../core/facts/tool-calls.ts";
import { kindOf } from "../text/entry-kind.ts";
import { Answer } from "./answer.ts";
import { entryText } from "./entry-text.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { writeOverview } from "./session-overview.ts";

/** Bytes of a handoff: of what was asked and answered, and of the overview. */
const SAID_BYTES = 6 * 1024;
const OVERVIEW_BYTES = 2 * 1024;
const REQUEST = 300;
const LAST_TEXT = 1500;

/** The first request says what it was about, the last ones where it stands. */
const LAST_REQUESTS = 6;

/**
 * Tells what an agent needs that goes on with a session: the last summary, what was asked on the active branch, the last answer,
 * and an overview; bounded to 8 KB.
 */
export async function handoffOf(recall: Recall, name: string): Promise<string> {
  const session = await recall.find(name);
  const said = new Answer(SAID_BYTES, recall.hide);
  for (const line of saidLines(session)) said.add(line);
  const overview = new Answer(OVERVIEW_BYTES, recall.hide);
  await writeOverview(recall, session, overview);
  return `${overview.finish()}\n\n${said.finish()}`;
}

function saidLines(session: RecalledSession): string[] {
  const { tree, view } = session;
  const path = [...tree.path(view.leaf)];
  const is = (word: string) => (ordinal: number) => kindOf(session.entryAt(ordinal)).word === word;
  const requests = path.filter(is("user"));
  const shown = new Set([...requests.slice(0, 1), ...requests.slice(-LAST_REQUESTS)]);
  const summary = path.findLast(is("compaction"));
  const isAnswer = is("assistant");
  const answer = path.findLast(
    (ordinal) => isAnswer(ordinal) && callsIn(session.entryAt(ordinal)).length === 0,
  );
  const lineOf = (what: string, ordinal: number | undefined, longest: number) => {
    if (ordinal === undefined) return [];
    const text = beginningOf(entryText(session.entryAt(ordinal), false), longest);
    return [`${what} (entry ${tree.idAt(ordinal)}): ${text}`];
  };
  return [
    ...lineOf("summary of what came before", summary, LAST_TEXT),
    ...[...shown].flatMap((ordinal) => lineOf("asked", ordinal, REQUEST)),
    ...lineOf("last answer", answer, LAST_TEXT),
  ];
}
