import { snippetOf } from "../../catalog/query/entry-search.ts";
import { SEARCHED_ROLES } from "../../catalog/query/search-query.ts";
import type { SearchHit } from "../../catalog/search/search.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { count } from "../../core/facts/number-text.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { kindOfMessage } from "../text/entry-kind.ts";
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
import { entryText } from "./entry-text.ts";
import {
  ALL,
  CURSOR,
  joined,
  MAX_BYTES,
  PROJECT,
  type Recall,
  type RecallTool,
  SINCE,
  timeText,
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
const LIMIT = countArgument(["limit", "the most hits"], { least: 1, most: 20, fallback: 8 });

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
    const sessions = await SessionOpener.of(recall);
    const [skipped, limit] = [get(CURSOR), get(LIMIT)];
    let [passed, shown, isMore] = [0, 0, false];
    for await (const hit of sessions.search(queryOf(recall, call))) {
      if (passed++ < skipped) continue;
      const line = await hitLine(recall, hit, sessions);
      if (line === undefined) continue;
      if (shown >= limit || !answer.addBlock({ heading: await recall.lineOf(hit.session), lines: [line] })) {
        isMore = true;
        break;
      }
      shown++;
    }
    noteEnd(answer, { shown, isMore, next: skipped + shown });
    sessions.noteLeftOut(answer);
  },
};

function queryOf(recall: Recall, call: Arguments): SourceQuery {
  const { get } = call;
  const [roles, tool, path, source] = [get(ROLES), get(TOOL), get(PATH), get(SOURCE)];
  return {
    text: get(QUERY),
    cwd: recall.projectOf(call),
    ranked: !get(LATEST),
    failed: get(FAILED),
    regex: get(REGEX),
    branch: get(BRANCH),
    ...recall.timesOf(call),
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
  else answer.note(`${count(next)} in all.`);
}

/** Writes a hit in one line; undefined if its session is gone. */
async function hitLine(recall: Recall, hit: SearchHit, sessions: SessionOpener): Promise<string | undefined> {
  const { entryId, role, tool = "", time, branch } = hit;
  const facts = joined(
    `  entry ${entryId}`,
    kindOfMessage({ role }).word,
    tool,
    time === undefined ? "" : timeText(time.getTime()),
    branch === "left" ? "left branch" : "",
  );
  const { cleaner } = recall;
  const text = cleaner.hidesSecrets
    ? await cleanSnippet(hit, sessions, cleaner)
    : cleaner.cleanText(hit.snippet);
  return text === undefined ? undefined : `${facts}: ${beginningOf(text, MAX_SNIPPET)}`;
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
  const [found = "", text = ""] = cleaner.cleanTexts([part, entryText(entry, true)]);
  const start = found === "" ? -1 : text.indexOf(found);
  return start === -1 ? excerptOf(entry).text : snippetOf(text, { start, length: found.length }).snippet;
}
