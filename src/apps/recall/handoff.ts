import { beginningOf } from "../../core/facts/plain-text.ts";
import { callsIn } from "../../core/facts/tool-calls.ts";
import { kindOf } from "../text/entry-kind.ts";
import type { Answer } from "./answer.ts";
import { entryText } from "./entry-text.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { inTime, writeOverview } from "./session-overview.ts";

/** Bytes of a handoff. */
const HANDOFF_BYTES = 8 * 1024;
const REQUEST = 300;
const LAST_TEXT = 1500;

/** The first request says what it was about, the last ones where it stands. */
const LAST_REQUESTS = 6;

/** Returns what an agent needs to continue a session: what was asked and answered, and an overview; bounded to 8 KB. */
export async function writeHandoff(recall: Recall, name: string): Promise<string> {
  const answer = recall.answer(HANDOFF_BYTES);
  await inTime(recall, answer, async (brief) => {
    const session = await brief.find(name);
    await addSaid(answer, session, brief);
    await writeOverview(brief, session, answer);
  });
  return answer.finish();
}

/** Adds the last summary, the first request and the last ones on the active branch, and the last answer. */
async function addSaid(answer: Answer, session: RecalledSession, { cleaner }: Recall): Promise<void> {
  const { tree, view } = session;
  const path = [...tree.path(view.leaf)];
  const add = (what: string, ordinal: number | undefined, longest: number) => {
    if (ordinal === undefined) return;
    const text = cleaner.cleanText(entryText(session.entryAt(ordinal), false));
    answer.add(`${what} (entry ${tree.idAt(ordinal)}): ${beginningOf(text, longest)}`);
  };
  add(
    "summary of what came before",
    path.findLast((at) => tree.typeAt(at) === "compaction"),
    LAST_TEXT,
  );
  const requests = new Set<number>();
  for await (const [ordinal, entry] of session.readStored(path)) {
    if (kindOf(entry).word !== "user") continue;
    requests.add(ordinal);
    break;
  }
  let last: number | undefined;
  const latest: number[] = [];
  for await (const [ordinal, entry] of session.readStored(path.toReversed())) {
    const { word } = kindOf(entry);
    if (word === "assistant" && callsIn(entry).length === 0) last ??= ordinal;
    if (word === "user") latest.push(ordinal);
    if (last !== undefined && latest.length >= LAST_REQUESTS) break;
  }
  for (const ordinal of latest.slice(0, LAST_REQUESTS).reverse()) requests.add(ordinal);
  for (const ordinal of requests) add("asked", ordinal, REQUEST);
  add("last answer", last, LAST_TEXT);
}
