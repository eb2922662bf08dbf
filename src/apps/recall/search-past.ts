import { cutSnippet } from "../../catalog/query/entry-search.ts";
import { isNamingEntries, SEARCHED_ROLES } from "../../catalog/query/search-query.ts";
import type { SearchHit } from "../../catalog/search/search.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { formatCount } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { pickDefined } from "../../core/format/json.ts";
import { getMessageKind } from "../text/entry-kind.ts";
import type { Answer } from "./answer.ts";
import { type Arguments, choiceArgument, choicesArgument, optionalText, switchArgument } from "./argument.ts";
import type { Cleaner } from "./cleaner.ts";
import { formatEntryText } from "./entry-text.ts";
import {
  ALL,
  addFound,
  formatEntryTime,
  joinFacts,
  MAX_BYTES,
  PROJECT,
  pageArguments,
  type Recall,
  type RecallTool,
  SINCE,
  UNTIL,
} from "./recall.ts";
import { addSessionList } from "./session-list.ts";
import { SessionOpener } from "./session-opener.ts";
import type { SourceQuery } from "./session-source.ts";

const MAX_SNIPPET = 200;

const QUERY = optionalText(
  "query",
  'a question, or words; "a phrase" in quotes. Empty: lists sessions, such as those since yesterday',
);
const ROLES = choicesArgument(
  ["roles", "only messages of these roles; toolResult is the output of tools"],
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
const LATEST = switchArgument("latest", "latest first, instead of best first");
const BRANCH = choiceArgument(["branch", "active: omit abandoned branches"], ["any", "active"]);
const PAGE = pageArguments("hits, or of sessions if the query is empty,", { max: 20, fallback: 8 });

const SEVERAL_WORDS = /\S\s+\S/;

/** Tool that finds entries by their text. */
export const searchSessionsTool: RecallTool = {
  name: "search_sessions",
  title: "Search past sessions",
  description:
    "Searches the memory of past sessions: the history of every conversation in this project, with what was said, called and returned. Use it to recall or remember previous work, before you guess how something was decided, built or fixed earlier. An empty query lists sessions: with since and until it answers what was done yesterday. One line per hit, with its date; read_entries returns the conversation around it.",
  arguments: [
    ...[QUERY, ROLES, TOOL, PATH, FAILED, REGEX, SOURCE, BRANCH],
    ...[LATEST, PROJECT, ALL, SINCE, UNTIL, PAGE.limit, PAGE.cursor, MAX_BYTES],
  ],
  run: async (recall, call, answer) => {
    const sessions = new SessionOpener(recall);
    const query = makeQuery(recall, call);
    const isList = query.text.trim() === "" && !isNamingEntries(query);
    if (isList) await addSessionList(recall, call, answer, { sessions, query, page: PAGE });
    else await addHits(recall, call, answer, { sessions, query });
    sessions.noteLeftOut(answer);
  },
};

async function addHits(
  recall: Recall,
  call: Arguments,
  answer: Answer,
  { sessions, query }: { sessions: SessionOpener; query: SourceQuery },
): Promise<void> {
  let missing: readonly string[] | undefined;
  const found = await addFound(answer, call, PAGE, findAnswers(sessions, query), async (hit) => {
    const line = (await sessions.isEcho(hit)) ? undefined : await formatHitLine(recall, hit, sessions);
    if (line === undefined) return undefined;
    missing =
      missing === undefined ? (hit.missing ?? []) : missing.filter((word) => hit.missing?.includes(word));
    return { heading: await recall.formatRow(hit.session), lines: [line] };
  });
  const { shown, isMore, next } = found;
  const isFirst = call.get(PAGE.cursor) === 0;
  if (missing !== undefined && missing.length > 0)
    answer.note(`Words in none of these hits: ${missing.join(", ")}.`);
  if (isMore) answer.note(`There are more hits. To continue: {"cursor": ${next}}, or ask for rarer words.`);
  else if (!isFirst) answer.note("No more hits.");
  else if (shown > 0) answer.note(`${formatCount(shown)} in all.`);
  else answer.note('Nothing found. Try fewer words, or {"all": true} for other projects.');
}

/** Yields the entries that contain all words, then the entries that contain only some of them. */
async function* findAnswers(
  sessions: SessionOpener,
  query: SourceQuery,
): AsyncGenerator<SearchHit, void, undefined> {
  const seen = new Set<string>();
  const getKey = ({ session, entryId }: SearchHit) => `${session.path ?? session.id} ${entryId}`;
  try {
    for await (const hit of sessions.search(query)) {
      seen.add(getKey(hit));
      yield hit;
    }
  } catch (error) {
    // A question may be too long for a search that requires all words.
    if (query.regex === true || !isSessionError(error, "INVALID_QUERY")) throw error;
  }
  // A single word with hits is not a question.
  const isAnswered = seen.size > 0 && !SEVERAL_WORDS.test(query.text);
  if (query.regex === true || query.text.trim() === "" || isAnswered) return;
  for await (const hit of sessions.search({ ...query, match: "any" })) if (!seen.has(getKey(hit))) yield hit;
}

function makeQuery(recall: Recall, call: Arguments): SourceQuery {
  const { get } = call;
  const [roles, tool, path, source] = [get(ROLES), get(TOOL), get(PATH), get(SOURCE)];
  return {
    text: get(QUERY) ?? "",
    cwd: recall.getProject(call),
    ranked: !get(LATEST),
    failed: get(FAILED),
    regex: get(REGEX),
    branch: get(BRANCH),
    ...recall.getTimes(call),
    ...pickDefined({ roles, path, source, tools: tool === undefined ? undefined : [tool] }),
  };
}

/** Writes a hit on one line; undefined if its session no longer exists. */
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
    formatEntryTime(time?.getTime(), hit.session),
    branch === "left" ? "left branch" : "",
  );
  const { cleaner } = recall;
  const text = cleaner.hidesSecrets
    ? await cleanSnippet(hit, sessions, cleaner)
    : cleaner.cleanText(hit.snippet);
  return text === undefined ? undefined : `${facts}: ${toShortLine(text, MAX_SNIPPET)}`;
}

/** Returns a line around the match from the cleaned entry, because a snippet of the stored entry may contain part of a secret. */
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
