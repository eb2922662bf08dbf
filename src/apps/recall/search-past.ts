import { cutSnippet } from "../../catalog/query/entry-search.ts";
import { SEARCHED_ROLES } from "../../catalog/query/search-query.ts";
import type { SearchHit } from "../../catalog/search/search.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { formatCount } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { getMessageKind } from "../text/entry-kind.ts";
import type { Answer } from "./answer.ts";
import {
  type Arguments,
  choiceArgument,
  choicesArgument,
  countArgument,
  optionalText,
  requiredText,
  switchArgument,
} from "./argument.ts";
import type { Cleaner } from "./cleaner.ts";
import { formatEntryText } from "./entry-text.ts";
import {
  ALL,
  CURSOR,
  formatMoment,
  joinFacts,
  MAX_BYTES,
  PROJECT,
  type Recall,
  type RecallTool,
  SINCE,
  UNTIL,
} from "./recall.ts";
import { SessionOpener } from "./session-opener.ts";
import type { SourceQuery } from "./session-source.ts";

const MAX_SNIPPET = 200;

const QUERY = requiredText("query", 'words that all stand in one entry; "a phrase" in quotes');
const ROLES = choicesArgument(
  ["roles", "only what these said; toolResult is the output of tools"],
  SEARCHED_ROLES,
);
const FAILED = switchArgument("failed", "only failures of tools, commands and models");
const REGEX = switchArgument("regex", "the query is a regular expression");
const TOOL = optionalText("tool", "only calls and results of this tool");
const PATH = optionalText("path", "only calls that name this file or folder, and their results");
const SOURCE = optionalText(
  "source",
  "only sessions imported from this program, such as claude-code; any: from any",
);
const LATEST = switchArgument("latest", "the latest first, instead of the best");
const BRANCH = choiceArgument(["branch", "active: leave out branches that were left"], ["any", "active"]);
const LIMIT = countArgument(["limit", "the most hits"], { min: 1, max: 20, fallback: 8 });

/** Finds entries by their text. */
export const searchSessionsTool: RecallTool = {
  name: "search_sessions",
  title: "Search past sessions",
  description:
    "Searches what was said, called and returned in past sessions of this project. Ask before you guess how something was decided, built or fixed earlier. Answers one line a hit; read_entries shows what is around it.",
  arguments: [
    ...[QUERY, ROLES, TOOL, PATH, FAILED, REGEX, SOURCE, BRANCH],
    ...[LATEST, PROJECT, ALL, SINCE, UNTIL, LIMIT, CURSOR, MAX_BYTES],
  ],
  run: async (recall, call, answer) => {
    const { get } = call;
    const sessions = new SessionOpener(recall);
    const [skipped, limit] = [get(CURSOR), get(LIMIT)];
    let [passed, shown, isMore] = [0, 0, false];
    for await (const hit of sessions.search(makeQuery(recall, call))) {
      if (passed++ < skipped) continue;
      const line = await formatHitLine(recall, hit, sessions);
      if (line === undefined) continue;
      if (
        shown >= limit ||
        !answer.addBlock({ heading: await recall.formatRow(hit.session), lines: [line] })
      ) {
        isMore = true;
        break;
      }
      shown++;
    }
    noteEnd(answer, { shown, isMore, next: skipped + shown });
    sessions.noteLeftOut(answer);
  },
};

function makeQuery(recall: Recall, call: Arguments): SourceQuery {
  const { get } = call;
  const [roles, tool, path, source] = [get(ROLES), get(TOOL), get(PATH), get(SOURCE)];
  return {
    text: get(QUERY),
    cwd: recall.getProject(call),
    ranked: !get(LATEST),
    failed: get(FAILED),
    regex: get(REGEX),
    branch: get(BRANCH),
    ...recall.getTimes(call),
    ...(roles && { roles }),
    ...(tool !== undefined && { tools: [tool] }),
    ...(path !== undefined && { path }),
    ...(source !== undefined && { source }),
  };
}

function noteEnd(
  answer: Answer,
  { shown, isMore, next }: { shown: number; isMore: boolean; next: number },
): void {
  if (isMore) answer.note(`There are more hits. To go on: {"cursor": ${next}}, or ask for rarer words.`);
  else if (shown === 0 && next === 0)
    answer.note('Nothing found. Try fewer words, or {"all": true} for other projects.');
  else answer.note(`${formatCount(next)} in all.`);
}

/** Writes a hit in one line; undefined if its session is gone. */
async function formatHitLine(
  recall: Recall,
  hit: SearchHit,
  sessions: SessionOpener,
): Promise<string | undefined> {
  const { entryId, role, tool = "", time, branch } = hit;
  const facts = joinFacts(
    `  entry ${entryId}`,
    getMessageKind({ role }).word,
    tool,
    time === undefined ? "" : formatMoment(time.getTime()),
    branch === "left" ? "left branch" : "",
  );
  const { cleaner } = recall;
  const text = cleaner.hidesSecrets
    ? await cleanSnippet(hit, sessions, cleaner)
    : cleaner.cleanText(hit.snippet);
  return text === undefined ? undefined : `${facts}: ${toShortLine(text, MAX_SNIPPET)}`;
}

/** Returns a line around what was found, of the clean entry: what was cut out of another one may be a part of a secret. */
async function cleanSnippet(
  { session: row, entryId, snippet, match }: SearchHit,
  sessions: SessionOpener,
  cleaner: Cleaner,
): Promise<string | undefined> {
  const session = await sessions.open(row);
  if (session === undefined) return undefined;
  const entry = session.entryAt(session.tree.find(entryId));
  const part = snippet.slice(match.start, match.start + match.length);
  const [found = "", text = ""] = cleaner.cleanTexts([part, formatEntryText(entry, true)]);
  const start = found === "" ? -1 : text.indexOf(found);
  return start === -1 ? getExcerpt(entry).text : cutSnippet(text, { start, length: found.length }).snippet;
}
