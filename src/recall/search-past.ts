import type { SearchHit } from "../catalog/search.ts";
import { snippetOf } from "../catalog/snippet.ts";
import { kindOfMessage } from "../view/entry-kind.ts";
import { excerptOf } from "../view/excerpt.ts";
import { count } from "../view/words.ts";
import type { Answer } from "./answer.ts";
import { choiceArgument, choicesArgument, countArgument, requiredText, switchArgument } from "./argument.ts";
import { cleanText } from "./clean.ts";
import { entryText } from "./entry-text.ts";
import {
  ALL,
  joined,
  MAX_BYTES,
  PROJECT,
  type Recall,
  type RecallTool,
  SINCE,
  timeText,
  UNTIL,
} from "./recall.ts";
import { cut, type RecalledSession } from "./recalled-session.ts";
import { SessionOpener } from "./session-opener.ts";

/** Characters of a hit's line. */
const MOST_OF_SNIPPET = 200;

const QUERY = requiredText("query", 'words that all stand in one entry; "a phrase" in quotes');
const ROLES = choicesArgument(
  ["roles", "only what these said; toolResult is the output of tools"],
  [
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "system",
    "compactionSummary",
    "branchSummary",
  ],
);
const FAILED = switchArgument("failed", "only failures of tools, commands and models");
const REGEX = switchArgument("regex", "the query is a regular expression");
const BRANCH = choiceArgument(["branch", "active: leave out branches that were left"], ["any", "active"]);
const LIMIT = countArgument(["limit", "the most hits"], { least: 1, most: 20, fallback: 8 });
export const CURSOR = countArgument(["cursor", "hits to skip, to go on after an earlier answer"], {
  most: 10_000,
  fallback: 0,
});

/** Finds entries by their text. */
export const searchSessionsTool: RecallTool = {
  name: "search_sessions",
  title: "Search past sessions",
  description:
    "Searches what was said, called and returned in past sessions of this project. Ask before you guess how something was decided, built or fixed earlier. Answers one line a hit; read_entries shows what is around it.",
  arguments: [QUERY, ROLES, FAILED, REGEX, BRANCH, PROJECT, ALL, SINCE, UNTIL, LIMIT, CURSOR, MAX_BYTES],
  run: async (recall, call) => {
    const { get } = call;
    const answer = recall.answer(call);
    const running = await recall.running();
    const sessions = new SessionOpener(recall);
    const [skipped, limit] = [get(CURSOR), get(LIMIT)];
    const { since, until } = recall.timesOf(call);
    let [passed, shown, isMore] = [0, 0, false];
    let last: string | undefined;
    const hits = recall.settings.source.search({
      text: get(QUERY),
      cwd: recall.projectOf(call),
      roles: get(ROLES),
      failed: get(FAILED),
      regex: get(REGEX),
    });
    for await (const hit of hits) {
      if (running.is(hit.session)) continue;
      const session = await sessions.open(hit.session);
      if (session === undefined) continue;
      const ordinal = session.tree.find(hit.entryId);
      const timeMs = session.tree.timeAt(ordinal);
      if (ordinal < 0 || (since && !(timeMs >= since.getTime())) || (until && !(timeMs < until.getTime())))
        continue;
      if (get(BRANCH) === "active" && !session.active.has(ordinal)) continue;
      if (passed++ < skipped) continue;
      const lines = [
        ...(last === hit.session.id ? [] : [recall.lineOf(hit.session)]),
        hitLine(recall, session, ordinal, hit),
      ];
      if (shown >= limit || !answer.addBlock(...lines)) {
        isMore = true;
        break;
      }
      last = hit.session.id;
      shown++;
    }
    noteEnd(answer, { shown, isMore, next: skipped + shown });
    if (running.note !== undefined) answer.note(running.note);
    sessions.noteUnreadable(answer);
    return answer.finish();
  },
};

function noteEnd(
  answer: Answer,
  { shown, isMore, next }: { shown: number; isMore: boolean; next: number },
): void {
  if (isMore) answer.note(`There are more hits. To go on: {"cursor": ${next}}, or ask for rarer words.`);
  else if (shown === 0 && next === 0)
    answer.note('Nothing found. Try fewer words, or {"all": true} for other projects.');
  else answer.note(`${count(next)} in all.`);
}

function hitLine(recall: Recall, session: RecalledSession, ordinal: number, hit: SearchHit): string {
  const facts = joined(
    `  entry ${hit.entryId}`,
    kindOfMessage({ role: hit.role }).word,
    timeText(session.tree.timeAt(ordinal)),
    session.branchMark(ordinal),
  );
  return `${facts}: ${snippetIn(recall, session, ordinal, hit)}`;
}

/** Returns a line around what was found; it is taken from the clean entry, since a cut may leave half of a secret. */
function snippetIn(
  recall: Recall,
  session: RecalledSession,
  ordinal: number,
  { snippet, match }: SearchHit,
): string {
  const entry = session.entryAt(ordinal);
  const found = cleanText(snippet.slice(match.start, match.start + match.length), recall.settings.hide);
  const text = entryText(entry, true);
  const start = found === "" ? -1 : text.indexOf(found);
  const line =
    start === -1 ? excerptOf(entry).text : snippetOf(text, { start, length: found.length }).snippet;
  return cut(line, MOST_OF_SNIPPET);
}
