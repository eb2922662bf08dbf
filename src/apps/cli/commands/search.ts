import { parseQuestion } from "../../../catalog/query/question.ts";
import { parseQuery, SEARCHED_ROLES } from "../../../catalog/query/search-query.ts";
import {
  type SearchHit,
  type SearchSessionOptions,
  searchLines,
  searchSession,
  searchSessions,
} from "../../../catalog/search/search.ts";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import { addTo } from "../../../core/format/group-by.ts";
import { pickDefined } from "../../../core/format/json.ts";
import { SOURCE_NAMES } from "../../../interop/import/imported-session.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import {
  formatFoundEntry,
  MAX_ID_WIDTH,
  toFoundEntryJson,
  writeFoundEntry,
  writeFoundSession,
} from "../found-entries.ts";
import { type FoundEntry, gatherSessions, writeSessions } from "../found-sessions.ts";
import type { NamedSession } from "../named-session.ts";
import {
  choiceOption,
  choicesOption,
  flag,
  numberOption,
  optionalArgument,
  optionalList,
  rare,
  textOption,
} from "../parameters.ts";
import { getScope, isSessionName, makeFailuresCommand, resolvePath } from "../session-argument.ts";
import { measureSessionIds } from "../session-ids.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import { getSpan } from "../span-options.ts";
import type { ListedRow, StoredSessions } from "../stored-sessions.ts";
import { asUsage, UsageError } from "../usage-error.ts";

const TEXT = {
  ...optionalArgument(
    "[text]",
    'words, in any order; "a phrase" in quotes; optional with --failed, --tool and --path',
  ),
  parse: (given: unknown) => (typeof given === "string" ? given : undefined),
};
const SESSION = optionalList(
  "[session...]",
  "search only this session; words that match no session are part of the text",
);
const FAILED = flag(
  "--failed",
  "only failures: failed tool calls, commands with an exit code other than 0, answers that ended in an error",
);
const SESSIONS = flag("-l, --sessions", "list only the sessions, one line each");
const ALL = flag("--all", "search the sessions of all projects");
const ANY = flag(
  "--any",
  "the text is a question: entries need not contain all words, and those with the most and rarest words come first",
);
const REGEX = flag("--regex", "the text is a regular expression");
const CASE = rare(flag("--case", "match case"));

const ROLE = choicesOption(
  "--role <roles>",
  "only messages of these roles, separated by commas",
  SEARCHED_ROLES,
);
const LIMIT = numberOption("--limit <number>", "maximum number of hits");
const SORT = rare(
  choiceOption(
    "--sort <order>",
    '"score" (best first) or "latest" (sessions in the order of "list"); default: score, or latest without a text',
    ["score", "latest"],
  ),
);
const SINCE = textOption(
  "--since <time>",
  "only entries since this time: 2026-11-23, 7d; also 2026-11, 2026-11-23T12:00",
);
const UNTIL = textOption("--until <time>", "only entries until this time; a month or a day is included");
const PROJECT = textOption("--project <folder>", "search the sessions of the project in this folder");
const SOURCE = rare(
  choiceOption("--source <program>", 'only sessions imported from this program, or "any"', [
    ...SOURCE_NAMES,
    "any",
  ]),
);
const TOOL = textOption("--tool <names>", "only calls and results of these tools, separated by commas");
const PATH = textOption("--path <file>", "only calls that refer to this file or folder, and their results");
const BRANCH = choiceOption(
  "--branch <which>",
  '"active" leaves out entries on abandoned branches; default: any',
  ["active", "any"],
);

/** Default number of hits displayed on a terminal. */
const MAX_SHOWN = 50;

/** Number of entries displayed after a failure: enough to show what the model tried next, and the result. */
const MAX_ENTRIES_AFTER = 5;

/** Number of messages displayed before a failure: enough to see the cause, and few enough for a screen. */
const MAX_MESSAGES_BEFORE = 10;

/** `sessiontree search`: finds text in sessions. */
export const command: Command = {
  details: `Searches messages, thinking, tool calls, commands and summaries of one session, or of this project's sessions. An entry is found if it contains all words, in any order; a word may be part of a longer word. Exits with 1 if nothing is found.

An argument with spaces is a phrase: its words occur next to each other, in this order. So search "exit code 1" finds the phrase, search exit code 1 finds the three words anywhere in an entry, and search "exit code 1" docker finds the phrase and the word. Within one argument, double quotes mark a phrase: search 'docker "exit code 1"'. If the last argument after a text is the whole name of a session, only that session is searched: search tulips "Garden plan" searches only the session called Garden plan.

--any answers questions: an entry is found if it contains any of the words as a whole word, regardless of English endings. Entries with the most and rarest words come first; a phrase in quotes is required.

The best hits come first: whole words before parts of words, then more and rarer words, words closer together, messages before tool output, and new before old. A terminal shows the best ${MAX_SHOWN}, unless --limit is given. --sort latest prints each hit as it is found. With --sessions, each session is one line with its number of matching entries, and --limit applies to sessions.

--failed finds failures: failed tool calls, commands with an exit code other than 0, and answers that ended in an error. A text is also searched in the name of the tool and in the arguments of its call. You can omit the text and specify a session as @last, by its path, or by its id or the beginning of it.

Roles are ${SEARCHED_ROLES.slice(0, -1).join(", ")} and ${SEARCHED_ROLES.at(-1)}.

In a pipe: with --sessions, one line per session, with tabs between id, number of entries, name or first message, and path; else one line per entry, with tabs between the session's id, the entry's id, role, text around the match, path, and "left" if the entry is on an abandoned branch. With --failed alone, the text is the tool and the purpose of its call, or the command, its exit code, and the line with the error; "show SESSION ENTRY" prints all of it.`,
  parameters: [
    ...[TEXT, SESSION, ANY, FAILED, SESSIONS, ALL, PROJECT, SOURCE, SINCE, UNTIL, ROLE, TOOL, PATH, BRANCH],
    ...[REGEX, CASE, SORT, LIMIT, PRETTY],
  ],
  examples: [
    ["search password", "in this project's sessions"],
    ["search timeout error", "both words"],
    ['search "exit code 1"', "the phrase"],
    ['search --any "how did we fix the flaky login test?"', "the entries that best answer a question"],
    ["search login timeout --all --since 30d", "both words, in all projects, in the last month"],
    ["search --path src/login.ts --all -l", "which sessions touched this file"],
    ["search password @last", "only in the latest session"],
    ["search --failed @last", "what failed in the latest session"],
    ["search --failed 1a2b3c4d", "what failed in the session with this id"],
    ["search timeout --failed --all", "failures in all projects that mention it"],
    ["search TODO --case --role user,assistant --all", "only what was said, in all projects"],
    ["search 'fix(es|ed)?_#\\d+' --regex --limit 5", "with a regular expression"],
    ["search password --dir ./sessions --json", "in a folder, one JSON object per hit"],
  ],
  run: runSearch,
};

async function runSearch(call: CommandCall): Promise<ExitCode> {
  const { out, json, note } = call;
  const { hits, ...asked } = await startSearch(call);
  if (call.get(SESSIONS)) return listFoundSessions(call, asked, hits);
  const isLaidOut = isForPeople(call);
  const shown = new LimitedHits(hits, getLimit(call, asked.text));
  let number = 0;
  let first: FoundEntry | undefined;
  let session: ListedRow | undefined;
  let sessions = 0;
  let idLength: number | undefined;
  let missing: readonly string[] | undefined;
  for await (const hit of isLaidOut && isRanked(call, asked.text) ? bySession(shown) : shown) {
    number++;
    first ??= hit;
    missing = intersect(missing, hit.missing ?? []);
    if (session?.id !== hit.session.id || session.path !== hit.session.path) {
      session = hit.session;
      sessions++;
      if (isLaidOut) {
        idLength ??= await measureShownIds(call);
        writeFoundSession(call, session, { idLength, isFurther: sessions > 1 });
      }
    }
    if (json) out.json(toFoundEntryJson(hit));
    else if (isLaidOut) writeFoundEntry(hit, out);
    else out.line(formatFoundEntry(hit));
    // Display the first hit while the search continues.
    out.flush();
  }
  if (first === undefined) {
    writeNothing(call, asked);
    return EXIT_CODES.failed;
  }
  if (isLaidOut)
    out.line(
      out.colors.dim(
        `\n${formatCounted(number, "entry", "entries")} in ${formatCounted(sessions, "session")}`,
      ),
    );
  if (isLaidOut && shown.hasMore) note(formatMore(call, number));
  if (missing !== undefined && missing.length > 0)
    note(`None of them contains: ${toPlainLine(missing.join(", "))}.`);
  if (call.get(FAILED)) writeNextSteps(call, first, asked.name);
  return EXIT_CODES.ok;
}

/** Hits up to a limit. After the iteration, `hasMore` is whether there are others. */
class LimitedHits implements AsyncIterable<FoundEntry> {
  hasMore = false;
  readonly #hits: AsyncIterable<FoundEntry>;
  readonly #limit: number;

  /** @param hits - With one more than the limit, `hasMore` is known. */
  constructor(hits: AsyncIterable<FoundEntry>, limit = Number.POSITIVE_INFINITY) {
    this.#hits = hits;
    this.#limit = limit;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FoundEntry, void, undefined> {
    let number = 0;
    for await (const hit of this.#hits) {
      this.hasMore = ++number > this.#limit;
      if (this.hasMore) return;
      yield hit;
    }
  }
}

/** Formats how to see the hits beyond the limit. */
function formatMore({ get }: CommandCall, shown: number): string {
  if (get(LIMIT) === undefined)
    return `These are the best ${shown}; --limit shows more, and --sort latest shows all of them.`;
  return "More entries match; a higher --limit shows them.";
}

/** Writes the sessions that contain hits, ordered by their best hits or as they are found. */
async function listFoundSessions(
  call: CommandCall,
  asked: Asked,
  hits: AsyncIterable<FoundEntry>,
): Promise<ExitCode> {
  const found = await gatherSessions(hits, isRanked(call, asked.text));
  if (found.length === 0) {
    writeNothing(call, asked);
    return EXIT_CODES.failed;
  }
  const shown = found.slice(0, call.get(LIMIT));
  await writeSessions(call, shown);
  if (call.out.isLaidOut && shown.length < found.length)
    call.note(`${shown.length} of ${formatCounted(found.length, "session")}; a higher --limit shows more.`);
  return EXIT_CODES.ok;
}

/** Returns the number of characters of session ids to display, so that every command accepts the shortened ids. */
async function measureShownIds(call: CommandCall): Promise<number> {
  return call.stored === undefined ? measureSessionIds(call, [], false) : MAX_ID_WIDTH;
}

function intersect(all: readonly string[] | undefined, some: readonly string[]): readonly string[] {
  return all === undefined ? some : all.filter((one) => some.includes(one));
}

/** Returns whether the best hits come first; without words, all hits rank equally. */
function isRanked(call: CommandCall, text: string): boolean {
  if (call.get(ANY)) return true;
  return (call.get(SORT) ?? (text === "" ? "latest" : "score")) === "score";
}

/** Returns whether hits are laid out for people, not one per line or as JSON. */
function isForPeople({ json, out }: CommandCall): boolean {
  return !json && out.isLaidOut;
}

function getLimit(call: CommandCall, text: string): number | undefined {
  const isCut = isForPeople(call) && isRanked(call, text);
  return call.get(LIMIT) ?? (isCut ? MAX_SHOWN : undefined);
}

/** Groups ranked hits by session, ordering sessions by their best hit. */
async function* bySession(hits: AsyncIterable<FoundEntry>): AsyncGenerator<FoundEntry, void, undefined> {
  const sessions = new Map<string, FoundEntry[]>();
  for await (const hit of hits) {
    addTo(sessions, hit.session.path ?? hit.session.id, hit);
  }
  for (const found of sessions.values()) yield* found;
}

/** Text to search for, and name of the session to search; without a name, several sessions are searched. */
interface Asked {
  readonly text: string;
  readonly name: string | undefined;
}

/** Starts a search in the scope of the call: a session, a database, or files. */
async function startSearch(call: CommandCall): Promise<Asked & { hits: AsyncIterable<FoundEntry> }> {
  const { get, stored } = call;
  const { text: first, name } = await withSessionId(call, readArguments(call));
  if (name !== undefined && get(ALL)) throw new UsageError("Name one session, or give --all.");
  const session = name === undefined ? undefined : await findSessionOrWord(name, first, call);
  const text = name === undefined || session !== undefined ? first : `${first} ${makeTerm(call, name)}`;
  if (name !== undefined && first !== "") noteMeaning(call, name, text, session !== undefined);
  const options = searchOptions(call, text);
  checkQuestion(call);
  await asUsage(() => (get(ANY) ? parseQuestion(text) : parseQuery(text, options)));
  if (session === undefined) {
    const hits = stored === undefined ? searchFiles(call, text) : searchStored(call, stored, text);
    return { text, name: undefined, hits };
  }
  // Also throws the error for a file that is missing or not a session.
  const { location, path, read } = session;
  const { log } = await read();
  const hits = path === undefined ? searchLines(log, text, options) : searchSession(path, text, options);
  return { text, name, hits: addLocations(location.json, hits) };
}

/**
 * Reports whether the last argument was treated as a session or as part of the search text, if the user may have meant the other.
 */
function noteMeaning(call: CommandCall, name: string, text: string, isSession: boolean): void {
  const term = makeTerm(call, name);
  const shown = toPlainLine(name);
  if (isSession && hasSpaces(name) && !isSessionName(name)) {
    const advice = term === name ? "" : `; to find the phrase, write ${quoteForShell(toPlainLine(term))}`;
    call.note(`Searching only the session called ${shown}${advice}.`);
  } else if (!isSession && !hasSpaces(name))
    call.note(`No session is called ${shown}: searching for ${toPlainLine(text)}.`);
}

/** Minimum length of a word that can be the beginning of an id; a shorter word is treated as part of the search text. */
const MIN_ID_LENGTH = 4;

/** Treats a word after --failed as a session if the session's id begins with it. */
async function withSessionId(call: CommandCall, asked: Asked): Promise<Asked> {
  const { text, name } = asked;
  const isWord = name === undefined && text.length >= MIN_ID_LENGTH && !/\s/.test(text);
  if (!call.get(FAILED) || call.get(ALL) || !isWord) return asked;
  const session = await findSessionOrWord(text, " ", call);
  const id = session && (await session.read()).header?.id;
  return id?.startsWith(text) === true ? { text: "", name: text } : asked;
}

/** @throws {UsageError} If a question is combined with an option that does not support questions. */
function checkQuestion({ get }: CommandCall): void {
  if (!get(ANY)) return;
  if (get(REGEX)) throw new UsageError("Give --any or --regex, not both.");
  if (get(CASE)) throw new UsageError("--any ignores case: leave out --case.");
  if (get(SORT) === "latest") throw new UsageError("--any orders by score: leave out --sort latest.");
}

/** Finds the session with this name; returns undefined if the word is part of the search text. */
async function findSessionOrWord(
  word: string,
  text: string,
  { findSession }: CommandCall,
): Promise<NamedSession | undefined> {
  try {
    // After a text, words of a name do not identify a session, and an argument with spaces is a phrase unless it is a whole name.
    const match = hasSpaces(word) ? "whole" : "beginning";
    return await findSession(word, text === "" ? "words" : match);
  } catch (error) {
    if (text === "" || isSessionName(word) || !isSessionError(error, "SESSION_NOT_FOUND")) throw error;
    return undefined;
  }
}

/**
 * Parses the arguments into the search text and the session name.
 *
 * If several words follow the text, only the last can identify a session, and only if its form is unambiguous.
 *
 * @throws {UsageError} If there is nothing to search for.
 */
function readArguments(call: Pick<CommandCall, "get">): Asked {
  const { get } = call;
  const words = get(SESSION);
  const last = words.at(-1);
  const isOneMore = last !== undefined && !isSessionName(last) && (words.length > 1 || get(ALL));
  const name = isOneMore ? undefined : last;
  const texts = [get(TEXT), ...(isOneMore ? words : words.slice(0, -1))].filter((one) => one !== undefined);
  const text =
    texts.length === 0
      ? undefined
      : texts
          .filter(Boolean)
          .map((one) => makeTerm(call, one))
          .join(" ");
  if (!get(FAILED) && get(TOOL) === undefined && get(PATH) === undefined) {
    if (text) return { text, name };
    throw new UsageError(
      "Specify a text to search for, or add --failed to find failures, or --tool or --path to find tool calls.",
    );
  }
  // A single argument is a session if its form is unambiguous.
  const [only = ""] = texts;
  const isSession = name === undefined && texts.length === 1 && isSessionName(only);
  return isSession ? { text: "", name: only } : { text: text ?? "", name };
}

/**
 * Quotes an argument that contains spaces to make it a phrase, unless it already contains quotes, or is a question or a regular
 * expression.
 */
function makeTerm({ get }: Pick<CommandCall, "get">, argument: string): string {
  const isPhrase = !get(ANY) && !get(REGEX) && hasSpaces(argument) && !argument.includes('"');
  return isPhrase ? `"${argument}"` : argument;
}

/** Returns whether an argument consists of several words. */
function hasSpaces(argument: string): boolean {
  return /\S\s+\S/.test(argument);
}

/** Adds the session's location to hits. */
async function* addLocations(
  location: Partial<ListedRow>,
  hits: AsyncIterable<SearchHit>,
): AsyncGenerator<FoundEntry, void, undefined> {
  for await (const hit of hits) {
    const { path: _, ...session } = hit.session;
    yield { ...hit, session: { ...session, ...location } };
  }
}

async function* searchStored(
  call: CommandCall,
  stored: StoredSessions,
  text: string,
): AsyncGenerator<FoundEntry, void, undefined> {
  const cwd = getProject(call) ?? (call.get(ALL) ? undefined : call.io.cwd);
  const options = { ...searchOptions(call, text), ...(cwd !== undefined && { cwd }) };
  for await (const { session, ...hit } of (await stored.store()).search(text, options))
    yield { ...hit, session: { ...session, ...stored.getLocation(session.id).json } };
}

function searchFiles(call: CommandCall, text: string): AsyncIterable<SearchHit> {
  const cwd = getProject(call);
  const isAll = call.get(ALL);
  if (cwd !== undefined && isAll) throw new UsageError("Give --all or --project, not both.");
  const scope = { ...getScope(call, isAll), ...(cwd !== undefined && { cwd }) };
  return searchSessions(text, { ...scope, ...searchOptions(call, text), latestFirst: !isRanked(call, text) });
}

function getProject({ get, io }: CommandCall): string | undefined {
  const project = get(PROJECT);
  return project === undefined ? undefined : resolvePath(io.cwd, project);
}

function searchOptions(call: CommandCall, text: string): SearchSessionOptions {
  const { get } = call;
  // With `--sessions`, the limit applies to sessions, which requires all of their entries.
  const limit = get(SESSIONS) ? undefined : getLimit(call, text);
  const [roles, path, source, branch] = [get(ROLE), get(PATH), get(SOURCE), get(BRANCH)];
  const tools = get(TOOL)
    ?.split(",")
    .map((tool) => tool.trim());
  return {
    match: get(ANY) ? "any" : "all",
    regex: get(REGEX),
    caseSensitive: get(CASE),
    failed: get(FAILED),
    ranked: !get(SESSIONS) && isRanked(call, text),
    ...getSpan(call, SINCE, UNTIL, false),
    ...pickDefined({ tools, roles, path, source, branch }),
    // One more, so that a note can say that there are more. Programs get no note, so the search ends with the last hit.
    ...(limit !== undefined && { limit: isForPeople(call) ? limit + 1 : limit }),
    onSkipped: warnOfSkipped(call),
  };
}

/** Writes the commands that show a failure in full, the context before it, and the cost up to it. */
function writeNextSteps(
  { dir, note }: CommandCall,
  { session: { id, path = id }, entryId }: FoundEntry,
  name = dir === undefined ? id : path,
): void {
  const [session, entry] = [quoteForShell(toPlainLine(name)), quoteForShell(toPlainLine(entryId))];
  note(
    `The first one in full, and what followed: sessiontree show ${session} ${entry} --after ${MAX_ENTRIES_AFTER}`,
  );
  note(
    `What the model saw before it: sessiontree context ${session} --before ${entry} --tail ${MAX_MESSAGES_BEFORE}`,
  );
  note(`Cost of the session up to there: sessiontree stats ${session} --leaf ${entry}`);
}

function writeNothing({ dir, get, note }: CommandCall, { text, name }: Asked): void {
  const what = get(FAILED) ? "No failure" : "Nothing";
  const of = text === "" ? "" : ` for ${toPlainLine(text)}`;
  const isOfProject = dir === undefined && !get(ALL) && name === undefined;
  note(`${what} found${of}${isOfProject ? " in the sessions of this project" : ""}.`);
  if (get(FAILED) && text !== "" && name === undefined) {
    const given = text.replace(/^"([^"]*)"$/, "$1");
    const word = quoteForShell(toPlainLine(given));
    note(`To search a session of that name: ${makeFailuresCommand(given)}`);
    note(`To search a folder of that name: sessiontree search --failed --dir ${word}`);
  }
  if (isOfProject) note("Add --all to search the sessions of all projects.");
  if (get(ANY) || get(REGEX) || !hasSpaces(text)) return;
  if (text.includes('"')) note("Leave out the quotes to find the words in any order.");
  note("Add --any to find entries that contain some of the words.");
}
