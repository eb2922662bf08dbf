import { type SearchHit, type SearchOptions, searchSession, searchSessions } from "../../catalog/search.ts";
import { type Command, type CommandCall, isForReading, PRETTY } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { argument, flag, numberOption, optionalArgument, textOption } from "../parameters.ts";
import { sessionScope } from "../session-argument.ts";
import { SessionView } from "../session-view.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import type { ListedRow, StoredSessions } from "../store/stored-sessions.ts";
import { plainLine, tabSeparated } from "../text/plain.ts";
import { ago } from "../text/times.ts";
import { column, truncate, truncateStart, widthOf } from "../text/width.ts";
import { counted } from "../text/words.ts";
import { UsageError } from "../usage-error.ts";
import { paintOf } from "../view/colour.ts";
import { kindOfMessage } from "../view/entry-kind.ts";
import { titleOf } from "../view/session-line.ts";
import { shortId } from "../view/short-ids.ts";

const TEXT = argument("<text>", "what to look for");
const SESSION = optionalArgument("[session]", "look only into this session");
const ALL = flag("--all", "in the sessions of all projects");
const REGEX = flag("--regex", "the text is a regular expression");
const CASE = flag("--case", "tell upper case from lower case");
const ROLE = textOption("--role <roles>", "only in messages of these roles, with commas between them");
const LIMIT = numberOption("--limit <number>", "stop after so many");

/** Columns of an id: enough for one of ours, and for the beginning of a longer one. */
const ID_WIDTH = 8;
const MOST_ID_WIDTH = 18;
const KIND_WIDTH = 10;

/** A hit in a file or in a database. */
interface FoundEntry extends SearchHit {
  readonly session: ListedRow;
}

/** `sessiontree search`: finds text in sessions. */
export const searchCommand: Command = {
  details: `Looks into messages, thinking, tool calls, commands and summaries of one session, or of this project's sessions, the latest first. Exits with 1 if nothing is found.

Roles are user, assistant, toolResult, bashExecution, custom, system, compactionSummary and branchSummary.

In a pipe: one line per entry, with tabs between the session's id, the entry's id, role, text around what was found, and path.`,
  parameters: [TEXT, SESSION, ALL, REGEX, CASE, ROLE, LIMIT, PRETTY],
  examples: [
    ["search password", "in this project's sessions"],
    ["search password @last", "in the latest one alone"],
    ["search TODO --case --role user,assistant --all", "in all projects, only what was said"],
    ["search fix(es|ed)?_#\\d+ --regex --limit 5", "by a regular expression"],
    ["search password --dir ./sessions --json", "in a folder, one JSON object per hit"],
  ],
  run: search,
};

async function search(call: CommandCall): Promise<ExitCode> {
  const { out, json } = call;
  const hits = await startSearch(call);
  const isLaidOut = !json && isForReading(call);
  let number = 0;
  let session: ListedRow | undefined;
  let sessions = 0;
  for await (const hit of hits) {
    number++;
    if (session?.id !== hit.session.id || session.path !== hit.session.path) {
      session = hit.session;
      sessions++;
      if (isLaidOut) writeSession(call, session, sessions > 1);
    }
    if (json) out.json(hitJson(hit));
    else if (isLaidOut) writeHit(hit, out);
    else out.line(lineOf(call, hit));
    // Whoever waits for the first hit sees it while the others are looked for.
    out.flush();
  }
  if (number === 0) writeNothing(call);
  else if (isLaidOut)
    out.line(out.colours.dim(`\n${counted(number, "entry", "entries")} in ${counted(sessions, "session")}`));
  return number === 0 ? EXIT_CODES.failed : EXIT_CODES.ok;
}

/** Looks where the call says: into a session, into those of a database, or into files. */
async function startSearch(call: CommandCall): Promise<AsyncIterable<FoundEntry>> {
  const { findSession, get, locationOf, stored } = call;
  const name = get(SESSION);
  if (name === undefined) return stored === undefined ? searchFiles(call) : searchStored(call, stored);
  if (get(ALL)) throw new UsageError("Name one session, or give --all.");
  // Also says what is wrong with a file that is missing, or no session.
  const { path } = new SessionView(await findSession(name));
  const hits = asExpression(call, () => searchSession(path, get(TEXT), searchOptions(call)));
  return namedAs(locationOf(path).json, hits);
}

/** Says of hits in a copy where the session itself is. */
async function* namedAs(
  location: Partial<ListedRow>,
  hits: AsyncIterable<SearchHit>,
): AsyncGenerator<FoundEntry, void, undefined> {
  for await (const hit of hits) {
    const { path: _, ...session } = hit.session;
    yield { ...hit, session: { ...session, ...location } };
  }
}

/** @throws {UsageError} If it is not about words. */
async function* searchStored(
  { get, io }: CommandCall,
  stored: StoredSessions,
): AsyncGenerator<FoundEntry, void, undefined> {
  if (get(REGEX) || get(CASE)) {
    throw new UsageError("A search in a database matches words in any case; leave out --regex and --case.");
  }
  const limit = get(LIMIT);
  const roles = rolesOf(get(ROLE));
  const options = {
    ...(!get(ALL) && { cwd: io.cwd }),
    ...(limit !== undefined && { limit }),
    ...(roles !== undefined && { roles }),
  };
  for await (const { session, ...hit } of (await stored.store()).search(get(TEXT), options)) {
    yield { ...hit, session: { ...session, ...stored.locationOf(session.id).json } };
  }
}

function rolesOf(text: string | undefined): string[] | undefined {
  return text?.split(",").map((role) => role.trim());
}

/** @throws {UsageError} If the text is no regular expression. */
function searchFiles(call: CommandCall): AsyncIterable<SearchHit> {
  const scope = sessionScope(call, call.get(ALL));
  return asExpression(call, () => searchSessions(call.get(TEXT), { ...scope, ...searchOptions(call) }));
}

function searchOptions(
  call: CommandCall,
): Pick<SearchOptions, "regex" | "caseSensitive" | "limit" | "roles" | "onSkipped"> {
  const { get } = call;
  const limit = get(LIMIT);
  const roles = rolesOf(get(ROLE));
  return {
    regex: get(REGEX),
    caseSensitive: get(CASE),
    ...(limit !== undefined && { limit }),
    ...(roles !== undefined && { roles }),
    onSkipped: warnOfSkipped(call),
  };
}

/** Takes an expression that is none for a wrong command line. */
function asExpression<T>({ get }: CommandCall, start: () => T): T {
  try {
    return start();
  } catch (error) {
    if (error instanceof TypeError && get(REGEX)) throw new UsageError(error.message);
    throw error;
  }
}

function lineOf({ stored }: CommandCall, { session, entryId, role, snippet }: FoundEntry): string {
  const place = session.path ?? session.store ?? stored?.address ?? "";
  return tabSeparated([session.id, entryId, role, snippet, place]);
}

function hitJson({
  session: { id, path, store, cwd, name },
  entryId,
  role,
  snippet,
  match,
  offset,
}: FoundEntry): object {
  return {
    session: { id, path, store, cwd, name },
    entryId,
    role,
    snippet,
    match,
    offset,
  };
}

/** Says whose hits follow. */
function writeSession({ io, out }: CommandCall, session: ListedRow, isFurther: boolean): void {
  const { colours, width } = out;
  const { id, modified } = session;
  if (isFurther) out.line();
  const front = `${shortId(id, MOST_ID_WIDTH)}  ${ago(modified.getTime(), io.now?.() ?? Date.now())}`;
  const title = truncate(titleOf(session), Math.max(0, width - widthOf(front) - 2));
  out.line(`${colours.dim(front)}  ${colours.bold(title)}`.trimEnd());
}

function writeHit({ entryId, role, snippet, match }: FoundEntry, out: Output): void {
  const { colours, width } = out;
  const kind = kindOfMessage({ role });
  const id = shortId(entryId, MOST_ID_WIDTH);
  const front = [
    colours.dim(column(id, Math.max(ID_WIDTH, widthOf(id)))),
    paintOf(colours, kind.style)(column(kind.word, KIND_WIDTH)),
  ].join(" ");
  const text = marked(snippet, match, width - widthOf(front) - 4, out);
  out.line(`  ${front}  ${text}`.trimEnd());
}

/** A snippet that fits, with what was found in another colour, and in sight. */
function marked(snippet: string, { start, length }: SearchHit["match"], width: number, out: Output): string {
  const found = truncate(plainPart(snippet.slice(start, start + length)), width);
  const before = plainPart(snippet.slice(0, start));
  const after = plainPart(snippet.slice(start + length));
  const room = width - widthOf(found);
  const front = truncateStart(before, Math.max(Math.floor(room / 2), room - widthOf(after)));
  return `${front}${out.colours.bold(out.colours.yellow(found))}${truncate(after, room - widthOf(front))}`;
}

/** Makes a part of a line harmless, and keeps the spaces at its ends. */
function plainPart(text: string): string {
  return plainLine(`.${text}.`).slice(1, -1);
}

function writeNothing({ dir, get, note }: CommandCall): void {
  note(`Nothing found for ${plainLine(get(TEXT))}.`);
  if (dir === undefined && !get(ALL) && get(SESSION) === undefined) {
    note("sessiontree search --all looks into the sessions of all projects.");
  }
}
