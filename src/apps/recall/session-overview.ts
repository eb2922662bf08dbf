import { toRecord } from "../../core/context/entry-fields.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { formatFailure } from "../../core/facts/failure-text.ts";
import { formatCount, formatCounted, formatDollars } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { getMessageTimeRange } from "../../core/facts/times.ts";
import { getToolCalls } from "../../core/facts/tool-calls.ts";
import { findCallFiles, type TouchedFile } from "../../core/facts/touched-files.ts";
import {
  countInputTokens,
  findUsage,
  formatModelName,
  ModelsInUse,
  UNKNOWN_MODEL,
} from "../../core/facts/usage.ts";
import { type ModelUsage, UsageTally } from "../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import { findImportOrigin } from "../../core/format/import-origin.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { countKinds, type EntryKind, getEntryKind, isFailure } from "../text/entry-kind.ts";
import type { Answer } from "./answer.ts";
import { isRecallEntry, isRecallTool, withoutRecalled } from "./echo.ts";
import { formatEntryText } from "./entry-text.ts";
import { findFinishedCall } from "./find-failures.ts";
import { formatMoment, joinFacts, MAX_BYTES, type Recall, type RecallTool, SESSION } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { findRunningSession, findWrittenSessions } from "./running-session.ts";
import { SessionOpener } from "./session-opener.ts";

const MAX_BRANCHES = 8;
const MAX_FILES = 12;
const MAX_NAMED = 5;
const LINE = 140;

/** Maximum number of entries of a branch that are searched for the first request. */
const MAX_FRONT = 200;

/** Tool that summarizes a session. */
export const sessionOverviewTool: RecallTool = {
  name: "session_overview",
  title: "Overview of a past session",
  description:
    "Sums up a past conversation from the history of sessions: times, models, branches and which of them were left, labels, summaries, files, failures, tokens and cost, parent and subagents.",
  arguments: [SESSION, MAX_BYTES],
  run: (recall, call, answer) =>
    runInTime(recall, answer, async (brief) =>
      writeOverview(brief, await brief.find(call.get(SESSION)), answer),
    ),
};

/** Time limit for reading a session, in milliseconds; writing the answer may take equally long. */
const MAX_MS = 1_000;

/**
 * Runs a function that adds to an answer, and stops it before a client gives up; the answer is then marked as partial.
 */
export async function runInTime(
  recall: Recall,
  answer: Answer,
  run: (brief: Recall) => Promise<void>,
): Promise<void> {
  const brief = recall.within(MAX_MS);
  try {
    await run(brief);
  } catch (error) {
    if (!brief.time.hasEnded(error)) throw error;
    answer.note("Partial: time ran out before everything was read. Ask again, or use read_entries.");
  }
}

/**
 * Adds an overview of a session; lines that do not fit are omitted from the end.
 *
 * @throws {SessionError} `ABORTED` if time runs out before the end; the answer then contains what was read.
 */
export async function writeOverview(recall: Recall, session: RecalledSession, answer: Answer): Promise<void> {
  const facts = new SessionFacts();
  let left = 0;
  const add = (lines: readonly string[]) => {
    for (const line of lines) if (left > 0 || !answer.add(line)) left++;
  };
  add([await recall.formatRow(session.row)]);
  try {
    await facts.read(session);
  } finally {
    add(formatFacts(session, facts));
  }
  add(await formatRelated(recall, session));
  if (left > 0) answer.note(`${formatCounted(left, "line")} left out; ask again with a larger max_bytes.`);
}

function formatFacts(session: RecalledSession, facts: SessionFacts): string[] {
  const { row, tree, view } = session;
  const [first, last] = getMessageTimeRange(tree);
  const kinds = countKinds({ kinds: facts.kinds, failures: new Set(facts.failures) });
  const { total, byModel } = facts.usage;
  const failures = facts.failures.filter((at) => !facts.recalled.has(at));
  const unread = tree.size - facts.kinds.length;
  const files = (isChanged: boolean) => [...facts.files].filter(([, file]) => file.isChanged === isChanged);
  return [
    `project: ${row.cwd}${facts.source === "" ? "" : ` · imported from ${facts.source}`}`,
    `time: ${formatMoment(first)} to ${formatMoment(last)}`,
    `${kinds}${unread === 0 ? "" : ` (partial: of the first ${formatCount(facts.kinds.length)} of ${formatCount(tree.size)} entries)`}`,
    `tokens: ${formatCount(countInputTokens(total))} in, ${formatCount(total.output)} out · cost ${formatDollars(total.cost)}`,
    ...byModel.slice(0, MAX_NAMED).map((usage) => formatModel(session, usage)),
    ...formatBranches(session),
    ...formatSome(
      [...view.labels],
      MAX_NAMED,
      "labels",
      ([id, { label }]) => `label ${JSON.stringify(label)} on entry ${id}`,
    ),
    ...formatSome(facts.summaries, MAX_NAMED, "summaries", (at) => `summary ${formatEntryLine(session, at)}`),
    ...formatSome(failures, MAX_NAMED, "failures", (at) => `failed ${formatEntryLine(session, at)}`),
    ...formatSome(files(true), MAX_FILES, "changed files", (file) => `changed ${getFilePath(session, file)}`),
    ...formatSome(
      files(false),
      MAX_FILES,
      "files that were only read",
      (file) => `read ${getFilePath(session, file)}`,
    ),
    ...(view.issues.length === 0 ? [] : [`damaged: ${formatCounted(view.issues.length, "issue")}`]),
  ];
}

/** Writes the last elements of an array, and the number of remaining elements. */
function formatSome<T>(
  all: readonly T[],
  max: number,
  what: string,
  formatLine: (one: T) => string,
): string[] {
  const left = all.length - max;
  return [
    ...all.slice(-max).map(formatLine),
    ...(left > 0 ? [`and ${formatCount(left)} other ${what}`] : []),
  ];
}

function formatModel(
  { cleaner }: RecalledSession,
  { count: calls, provider, model, ...usage }: ModelUsage,
): string {
  const [from = "", name = ""] = cleaner.cleanTexts([provider ?? "", model ?? ""]);
  return joinFacts(
    `model ${formatModelName({ provider: from || null, model: name || null }) || UNKNOWN_MODEL}`,
    formatCounted(calls, "call"),
    `${formatCount(usage.totalTokens)} tokens`,
    `cost ${formatDollars(usage.cost)}`,
  );
}

/** File named by calls. */
interface NamedFile {
  /** First call that refers to the file; the path is shown as in the cleaned entry. */
  readonly ordinal: number;
  readonly position: number;
  readonly isChanged: boolean;
}

/** Facts from the stored entries of a session. */
class SessionFacts {
  readonly kinds: EntryKind[] = [];
  readonly failures: number[] = [];
  /** Calls and results of recall tools. */
  readonly recalled = new Set<number>();
  readonly summaries: number[] = [];
  readonly usage = new UsageTally();
  readonly files = new Map<string, NamedFile>();
  /** Program that the session was imported from; empty if it was not imported. */
  source = "";
  readonly #models = new ModelsInUse();

  /** @throws {SessionError} `ABORTED` if time runs out; the facts then cover only the first entries. */
  async read(session: RecalledSession): Promise<void> {
    for await (const [ordinal, entry] of session.readStored(session.tree.ordinals())) {
      this.kinds.push(getEntryKind(entry));
      if (entry !== undefined) this.#add(ordinal, entry);
    }
  }

  #add(ordinal: number, entry: AnySessionEntry): void {
    if (isFailure(entry)) this.failures.push(ordinal);
    if (isRecallEntry(entry)) this.recalled.add(ordinal);
    if (entry.type === "compaction" || entry.type === "branch_summary") this.summaries.push(ordinal);
    this.source ||= findImportOrigin(entry)?.source ?? "";
    const used = findUsage(entry);
    if (used !== undefined) this.usage.add(used, this.#models.of(entry));
    for (const [position, { path, isChanged }] of findOwnFiles(entry).entries()) {
      const known = this.files.get(path) ?? { ordinal, position, isChanged };
      this.files.set(path, { ...known, isChanged: isChanged || known.isChanged });
    }
  }
}

/** Returns the files named in an entry's calls, except calls of recall tools. */
function findOwnFiles(entry: AnySessionEntry | undefined): TouchedFile[] {
  return getToolCalls(entry).flatMap((call) => (isRecallTool(call.name) ? [] : findCallFiles(call)));
}

function getFilePath(
  session: RecalledSession,
  [, { ordinal, position }]: readonly [string, NamedFile],
): string {
  return findOwnFiles(session.entryAt(ordinal))[position]?.path ?? "";
}

function formatBranches(session: RecalledSession): string[] {
  const { tree, active } = session;
  const tips = [...tree.leaves()].sort((a, b) => Number(active.has(b)) - Number(active.has(a)) || b - a);
  const lines = tips.slice(0, MAX_BRANCHES).map((tip) => {
    const path = [...tree.path(tip)];
    const own = path.filter((ordinal) => !active.has(ordinal));
    const isActive = own.length === 0;
    // The first request distinguishes a branch from the one it left.
    const from = getFirstSaid(session, isActive ? path : own);
    return `${isActive ? "active branch" : "left branch"} up to entry ${tree.idAt(tip)}, ${formatCounted(isActive ? path.length : own.length, "entry", "entries")}${from}`;
  });
  const left = tips.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${formatCount(left)} other branches`] : [])];
}

function getFirstSaid(session: RecalledSession, ordinals: readonly number[]): string {
  const front = ordinals.slice(0, MAX_FRONT);
  const at = front.find((ordinal) => getEntryKind(session.view.entryAt(ordinal)).tone === "user") ?? front[0];
  return at === undefined
    ? ""
    : `: ${toShortLine(withoutRecalled(getExcerpt(session.entryAt(at)).text), LINE)}`;
}

function formatEntryLine(session: RecalledSession, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  const text = isFailure(entry)
    ? formatFailure(toRecord(entry)["message"], findFinishedCall(session, ordinal)?.input)
    : getExcerpt(entry).text;
  const mark = session.branchMark(ordinal);
  return `entry ${session.tree.idAt(ordinal)}${mark === "" ? "" : ` (${mark})`}: ${toShortLine(text, LINE)}`;
}

/** Lists the parent session of a session and its children. */
async function formatRelated(recall: Recall, session: RecalledSession): Promise<string[]> {
  const { id, path, parentSession } = session.row;
  const rows = await recall.list(undefined);
  const isNamed = (row: SessionRow, name: string | undefined) =>
    name !== undefined && (row.id === name || row.path === name);
  const parent = rows.find((row) => isNamed(row, parentSession));
  const children = rows.filter(
    ({ parentSession: of, id: own }) => of !== undefined && own !== id && (of === id || of === path),
  );
  const made = session.isOfSubagent ? "subagent of" : "forked from";
  const origin = parent === undefined ? parentSession : await recall.formatRow(parent);
  const shown = await Promise.all(children.slice(-MAX_NAMED).map((row) => recall.formatRow(row)));
  const left = children.length - shown.length;
  return [
    ...(origin === undefined ? [] : [`${made} ${origin}`]),
    ...shown.map((line) => `continued in or delegated to ${line}`),
    ...(left > 0 ? [`and ${formatCount(left)} other sessions`] : []),
  ];
}

/** Maximum size of a handoff, in bytes. */
const HANDOFF_BYTES = 8 * 1024;
const REQUEST = 300;
const LAST_TEXT = 1500;

/** Number of the latest requests in a handoff. The first request shows the topic; the last requests show the current state. */
const LAST_REQUESTS = 6;

/**
 * Returns what an agent needs to continue a session: the requests, the last answer, and an overview; at most 8 KB.
 *
 * @param name - Undefined for the latest session of the project.
 */
export async function writeHandoff(recall: Recall, name: string | undefined): Promise<string> {
  const answer = recall.answer(HANDOFF_BYTES);
  await runInTime(recall, answer, async (brief) => {
    const session = name === undefined ? await findLatestSession(brief) : await brief.find(name);
    await addSaid(answer, session, brief);
    await writeOverview(brief, session, answer);
  });
  return answer.finish();
}

/**
 * Finds the latest session of the project that has messages and is not a subagent's. A session named in the environment
 * is not excluded: after `/clear` it is the one to continue.
 */
async function findLatestSession(recall: Recall): Promise<RecalledSession> {
  const { project } = recall.settings;
  const sessions = new SessionOpener(recall);
  const open = (row: SessionRow) => sessions.open(row);
  const running =
    recall.caller.length > 0
      ? await findRunningSession(recall, open)
      : await findWrittenSessions(recall, open);
  for (const row of await recall.list(project)) {
    if (row.messageCount === 0 || running.is(row)) continue;
    const session = await open(row);
    if (session?.isOfSubagent === false) return session;
  }
  throw new SessionError(
    "SESSION_NOT_FOUND",
    "The project has no past session. Name a session of another project.",
  );
}

/** Adds the last summary, the first and last requests on the active branch, and the last answer. */
async function addSaid(answer: Answer, session: RecalledSession, { cleaner }: Recall): Promise<void> {
  const { tree, view } = session;
  const path = [...tree.path(view.leaf)];
  const add = (what: string, ordinal: number | undefined, longest: number) => {
    if (ordinal === undefined) return;
    const text = cleaner.cleanText(withoutRecalled(formatEntryText(session.entryAt(ordinal), false)));
    answer.add(`${what} (entry ${tree.idAt(ordinal)}): ${toShortLine(text, longest)}`);
  };
  add(
    "summary of what came before",
    path.findLast((at) => tree.typeAt(at) === "compaction"),
    LAST_TEXT,
  );
  const requests = new Set<number>();
  for await (const [ordinal, entry] of session.readStored(path)) {
    if (getEntryKind(entry).word !== "user") continue;
    requests.add(ordinal);
    break;
  }
  let last: number | undefined;
  const latest: number[] = [];
  for await (const [ordinal, entry] of session.readStored(path.toReversed())) {
    const { word } = getEntryKind(entry);
    if (word === "assistant" && getToolCalls(entry).length === 0) last ??= ordinal;
    if (word === "user") latest.push(ordinal);
    if (last !== undefined && latest.length >= LAST_REQUESTS) break;
  }
  for (const ordinal of latest.slice(0, LAST_REQUESTS).reverse()) requests.add(ordinal);
  for (const ordinal of requests) add("asked", ordinal, REQUEST);
  add("last answer", last, LAST_TEXT);
}
