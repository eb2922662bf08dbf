import type { SearchHit } from "../../catalog/search/search.ts";
import { getMessageFields, toRecord } from "../../core/context/entry-fields.ts";
import { getMessageParts, toText } from "../../core/context/message-parts.ts";
import { formatToolCall } from "../../core/facts/excerpt.ts";
import { formatFailure } from "../../core/facts/failure-text.ts";
import { formatCount } from "../../core/facts/number-text.ts";
import { type EntryOutcome, outcomeOf } from "../../core/facts/outcome.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { findCall } from "../../core/facts/tool-calls.ts";
import { optionalText } from "./argument.ts";
import { getPurposes } from "./call-purpose.ts";
import { isRecallTool } from "./echo.ts";
import { formatEntryText } from "./entry-text.ts";
import {
  ALL,
  addPage,
  formatEntryTime,
  joinFacts,
  MAX_BYTES,
  PROJECT,
  pageArguments,
  type RecallTool,
} from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { type OpenedEntry, SessionOpener } from "./session-opener.ts";

/** Maximum number of an error's words to search for; the others only rank the hits. */
const MAX_SEARCHED_WORDS = 4;

/** Maximum number of hits per word, latest first. */
const MAX_HITS = 200;

const MAX_READ = 40;

/** Minimum share of an error's words, by weight, that a similar failure must contain. */
const ALIKE = 0.4;

/** Maximum number of characters of an error from which words are taken. */
const MAX_ERROR = 20_000;

const MAX_TRIED = 5;
const LINE = 200;
const CALL_LINE = 120;

const COMMON = new Set(
  "the and for with was not are but from this that error errors failed failure exit code line command exited stack trace process returned file expected got than have has more".split(
    " ",
  ),
);

const ERROR = optionalText("error", "the error, as it was printed; default: the latest failures");
const PAGE = pageArguments("failures", { max: 10, fallback: 3 });

/** Tool that finds similar failures in past sessions, and the calls that worked after them. */
export const findFailuresTool: RecallTool = {
  name: "find_failures",
  title: "Find how a failure was fixed before",
  description:
    "Recalls how a failure like this one was fixed before: finds previous failures in the history of past sessions, and what was done next that worked, along the branch on which it did. Use it when a command or a tool fails, before you try to fix it.",
  arguments: [ERROR, PROJECT, ALL, PAGE.limit, PAGE.cursor, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const sessions = new SessionOpener(recall);
    const failures = await findFailuresLike(get(ERROR) ?? "", recall.getProject(call), sessions);
    await addPage(answer, call, PAGE, failures, async (hit) => {
      const found = await sessions.openEntry(hit);
      const lines = found === undefined ? [] : formatFailureLines(found);
      return { heading: await recall.formatRow(hit.session), lines };
    });
    if (failures.length === 0)
      answer.note('No such failure. Try fewer words of the error, or {"all": true}.');
    sessions.noteLeftOut(answer);
  },
};

async function findFailuresLike(
  error: string,
  cwd: string | undefined,
  sessions: SessionOpener,
): Promise<SearchHit[]> {
  const words = findWords(error);
  const lookedFor = words.length === 0 ? [findSigns(error)] : words.slice(0, MAX_SEARCHED_WORDS);
  const found = new Map<string, { hit: SearchHit; words: string[] }>();
  const frequencies = new Map<string, number>();
  for (const text of lookedFor) {
    let hits = 0;
    for await (const hit of sessions.search({ text, cwd, failed: true })) {
      // A fork has the entries of its parent, so each counts once.
      const known = found.get(hit.entryId) ?? { hit, words: [] };
      known.words.push(text);
      found.set(hit.entryId, known);
      hits++;
      if (hits >= MAX_HITS) break;
    }
    frequencies.set(text, hits);
  }
  const weight = (word: string) => 1 / (1 + Math.log(1 + (frequencies.get(word) ?? 0)));
  const first = [...found.values()]
    .map(({ hit, words: held }) => ({ hit, score: held.reduce((sum, word) => sum + weight(word), 0) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_READ);
  const failures: { readonly hit: SearchHit; readonly score: number; readonly timeMs: number }[] = [];
  for (const { hit } of first) {
    const entry = await sessions.openEntry(hit);
    if (entry === undefined || (await sessions.isEcho(hit))) continue;
    const score = measureLikeness(entry, words, weight);
    const timeMs = entry.session.tree.timeAt(entry.ordinal);
    if (score >= ALIKE) failures.push({ hit, score, timeMs });
  }
  return failures.sort((a, b) => b.score - a.score || b.timeMs - a.timeMs).map(({ hit }) => hit);
}

/** Returns the share of the words, by weight, that a failure contains. */
export function measureLikeness(
  { session, ordinal }: OpenedEntry,
  words: readonly string[],
  weight: (word: string) => number,
): number {
  if (words.length === 0) return 1;
  const call = findFinishedCall(session, ordinal);
  const text =
    `${formatEntryText(session.entryAt(ordinal), false)}\n${formatToolCall(call?.name ?? "", call?.input)}`.toLowerCase();
  const sum = (some: readonly string[]) => some.reduce((all, word) => all + weight(word), 0);
  return sum(words.filter((word) => text.includes(word))) / sum(words);
}

/** Returns the search text for an error that contains no words. */
function findSigns(error: string): string {
  return toShortLine(error, LINE).split(" ", MAX_SEARCHED_WORDS).join(" ");
}

/** Returns the distinctive words of an error, longest first; a very long word is split. */
export function findWords(error: string): string[] {
  const words =
    error
      .slice(0, MAX_ERROR)
      .toLowerCase()
      .match(/[\p{L}_$][\p{L}\p{N}_$]{2,79}/gu) ?? [];
  return [...new Set(words)].filter((word) => !COMMON.has(word)).sort((a, b) => b.length - a.length);
}

/** Writes a failure line by line: the request, the reply, later attempts, and the call that then worked. */
export function formatFailureLines({ session, ordinal }: OpenedEntry): string[] {
  const { tree } = session;
  const message = toRecord(session.entryAt(ordinal))["message"];
  const failed = findFinishedCall(session, ordinal);
  const heading = joinFacts(
    `  entry ${tree.idAt(ordinal)}`,
    formatEntryTime(tree.timeAt(ordinal), session.row),
    session.branchMark(ordinal),
  );
  const asked = session.askedAbove(ordinal, CALL_LINE);
  const opinion = findReply(session, ordinal);
  return [
    `${heading}: ${toShortLine(formatFailure(message, failed?.input), LINE)}`,
    ...(asked === "" ? [] : [`    asked: ${asked}`]),
    ...(opinion === "" ? [] : [`    said next: ${opinion}`]),
    ...(failed === undefined ? [] : formatAftermath(session, failed)),
  ];
}

/** Returns the model's reply to a failure, without its calls, on one line; empty if the model did not reply. */
function findReply(session: RecalledSession, ordinal: number): string {
  const path = session.pathThrough(ordinal);
  for (const at of path.slice(path.indexOf(ordinal) + 1)) {
    const message = toRecord(toRecord(session.entryAt(at))["message"]);
    if (message["role"] !== "assistant") continue;
    const said = getMessageParts(message).flatMap((part) => (part.kind === "text" ? part.text : []));
    return toShortLine(said.join(" "), LINE);
  }
  return "";
}

function formatAftermath(session: RecalledSession, failed: FinishedCall): string[] {
  const { tried, worked, isElsewhere } = findAftermath(session, failed);
  const formatCall = (call: FinishedCall) =>
    `${toShortLine(formatToolCall(call.name, call.input), CALL_LINE)} (entry ${session.tree.idAt(call.ordinal)}${call.outcome === undefined ? "" : `, ${call.outcome}`})`;
  if (worked === undefined) return ["    nothing for the same purpose worked after it"];
  const left = tried.length - MAX_TRIED;
  return [
    ...tried.slice(-MAX_TRIED).map((call) => `    then ${formatCall(call)}`),
    ...(left > 0 ? [`    after ${formatCount(left)} other calls`] : []),
    `    worked${isElsewhere ? " on the branch that was continued" : ""}: ${formatCall(worked)}`,
  ];
}

/** Call with a result, or a user's command. */
interface FinishedCall {
  readonly ordinal: number;
  readonly name: string;
  readonly input: unknown;
  readonly outcome: EntryOutcome | undefined;
}

const MAX_FOLLOWED = 200;

/**
 * Returns the call that produced an entry, if the entry is a result, or the command that an entry records; undefined for other
 * entries.
 */
export function findFinishedCall(session: RecalledSession, ordinal: number): FinishedCall | undefined {
  const entry = session.entryAt(ordinal);
  const { role, command } = getMessageFields(entry);
  if (entry === undefined) return undefined;
  const outcome = outcomeOf(entry);
  if (role === "bashExecution")
    return { ordinal, name: "command", input: { command: toText(command) }, outcome };
  const call = findCall(session, ordinal);
  return call && { ordinal, name: call.name, input: call.input, outcome };
}

/** Calls after a failure: the attempts, and the call that then worked. */
interface Aftermath {
  /** In order, without the call that worked. */
  readonly tried: readonly FinishedCall[];
  /** First successful call for the same purpose; undefined if no such call followed. */
  readonly worked: FinishedCall | undefined;
  /** Whether that call is on the branch that was continued, while the failure is on an abandoned branch. */
  readonly isElsewhere: boolean;
}

/**
 * Follows the branch of a failure to the first successful call for the same purpose; if there is no such call, follows the branch
 * that was continued.
 *
 * @remarks Cost: O(entries after it), plus at most 200 bodies on each branch.
 */
export function findAftermath(session: RecalledSession, failed: FinishedCall): Aftermath {
  const path = session.pathThrough(failed.ordinal);
  const own = findFirstWorking(session, path.slice(path.indexOf(failed.ordinal) + 1), failed);
  if (own.worked !== undefined || session.active.has(failed.ordinal)) return { ...own, isElsewhere: false };
  const kept = [...session.active];
  const fork = path.findLastIndex((ordinal) => session.active.has(ordinal));
  const behind = kept.slice(kept.indexOf(path[fork] ?? -1) + 1);
  const other = findFirstWorking(session, behind, failed);
  return other.worked === undefined ? { ...own, isElsewhere: false } : { ...other, isElsewhere: true };
}

function findFirstWorking(
  session: RecalledSession,
  ordinals: readonly number[],
  failed: FinishedCall,
): Omit<Aftermath, "isElsewhere"> {
  const tried: FinishedCall[] = [];
  const wanted = getPurposes(failed).at(-1);
  for (const ordinal of ordinals.slice(0, MAX_FOLLOWED)) {
    const call = findFinishedCall(session, ordinal);
    if (call === undefined || isRecallTool(call.name)) continue;
    if (call.outcome === undefined && getPurposes(call).some((one) => one === wanted))
      return { tried, worked: call };
    tried.push(call);
  }
  return { tried, worked: undefined };
}
