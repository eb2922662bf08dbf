import type { SearchHit } from "../../catalog/search/search.ts";
import { fieldsOf, messageFieldsOf } from "../../core/context/entry-fields.ts";
import { partsOf, textOf } from "../../core/context/message-parts.ts";
import { callText } from "../../core/facts/excerpt.ts";
import { failureText } from "../../core/facts/failure-text.ts";
import { count } from "../../core/facts/number-text.ts";
import { type EntryOutcome, outcomeOf } from "../../core/facts/outcome.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { callOf, tellingArgument } from "../../core/facts/tool-calls.ts";
import { countArgument, optionalText } from "./argument.ts";
import { entryText } from "./entry-text.ts";
import { ALL, addPage, CURSOR, joined, MAX_BYTES, PROJECT, type RecallTool, timeText } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { type OpenedEntry, SessionOpener } from "./session-opener.ts";

/** Words of an error that are looked for; the others only rank what they find. */
const MOST_LOOKED_FOR = 4;

/** Hits of each of them, latest first. */
const MOST_HITS = 200;

const MAX_READ = 40;

/** The part of an error's words, by their weight, that a failure like it has at least. */
const ALIKE = 0.4;

/** Characters of an error whose words are taken. */
const MAX_ERROR = 20_000;

const MOST_TRIED = 5;
const LINE = 200;
const CALL_LINE = 120;

const COMMON = new Set(
  "the and for with was not are but from this that error errors failed failure exit code line command exited stack trace process returned file expected got than have has more".split(
    " ",
  ),
);

const ERROR = optionalText("error", "the error, as it was printed; default: the latest failures");
const LIMIT = countArgument(["limit", "the most failures"], { least: 1, most: 10, fallback: 3 });

/** Finds failures like one, and what was run next that worked. */
export const findFailuresTool: RecallTool = {
  name: "find_failures",
  title: "Find how a failure was fixed before",
  description:
    "Finds failures like this one in past sessions, and what was done next that worked, along the branch on which it did. Ask when a command or a tool fails, before you try to fix it.",
  arguments: [ERROR, PROJECT, ALL, LIMIT, CURSOR, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const sessions = await SessionOpener.of(recall);
    const failures = await failuresLike(get(ERROR) ?? "", recall.projectOf(call), sessions);
    await addPage(answer, call, LIMIT, failures, async (hit) => {
      const found = await sessions.entryOf(hit);
      const lines = found === undefined ? [] : failureLines(found);
      return { heading: await recall.lineOf(hit.session), lines };
    });
    if (failures.length === 0)
      answer.note('No such failure. Try fewer words of the error, or {"all": true}.');
    sessions.noteLeftOut(answer);
  },
};

async function failuresLike(
  error: string,
  cwd: string | undefined,
  sessions: SessionOpener,
): Promise<SearchHit[]> {
  const words = wordsOf(error);
  const lookedFor = words.length === 0 ? [signsOf(error)] : words.slice(0, MOST_LOOKED_FOR);
  const found = new Map<string, { hit: SearchHit; words: string[] }>();
  const frequencies = new Map<string, number>();
  for (const text of lookedFor) {
    let hits = 0;
    for await (const hit of sessions.search({ text, cwd, failed: true })) {
      // A fork has the entries of its parent: one of them is enough.
      const known = found.get(hit.entryId) ?? { hit, words: [] };
      known.words.push(text);
      found.set(hit.entryId, known);
      hits++;
      if (hits >= MOST_HITS) break;
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
    const entry = await sessions.entryOf(hit);
    if (entry === undefined) continue;
    const score = likeness(entry, words, weight);
    const timeMs = entry.session.tree.timeAt(entry.ordinal);
    if (score >= ALIKE) failures.push({ hit, score, timeMs });
  }
  return failures.sort((a, b) => b.score - a.score || b.timeMs - a.timeMs).map(({ hit }) => hit);
}

/** Returns the part of the words, by weight, that a failure has. */
function likeness(
  { session, ordinal }: OpenedEntry,
  words: readonly string[],
  weight: (word: string) => number,
): number {
  if (words.length === 0) return 1;
  const call = finishedCallAt(session, ordinal);
  const text =
    `${entryText(session.entryAt(ordinal), false)}\n${callText(call?.name ?? "", call?.input)}`.toLowerCase();
  const sum = (some: readonly string[]) => some.reduce((all, word) => all + weight(word), 0);
  return sum(words.filter((word) => text.includes(word))) / sum(words);
}

/** Returns what is looked for of an error without words. */
function signsOf(error: string): string {
  return beginningOf(error, LINE).split(" ", MOST_LOOKED_FOR).join(" ");
}

/** Returns the words that tell an error from others, the longest first; of a very long one its parts. */
function wordsOf(error: string): string[] {
  const words =
    error
      .slice(0, MAX_ERROR)
      .toLowerCase()
      .match(/[\p{L}_$][\p{L}\p{N}_$]{2,79}/gu) ?? [];
  return [...new Set(words)].filter((word) => !COMMON.has(word)).sort((a, b) => b.length - a.length);
}

function failureLines({ session, ordinal }: OpenedEntry): string[] {
  const { tree } = session;
  const message = fieldsOf(session.entryAt(ordinal))["message"];
  const failed = finishedCallAt(session, ordinal);
  const heading = joined(
    `  entry ${tree.idAt(ordinal)}`,
    timeText(tree.timeAt(ordinal)),
    session.branchMark(ordinal),
  );
  const asked = session.askedAbove(ordinal, CALL_LINE);
  const opinion = saidAfter(session, ordinal);
  return [
    `${heading}: ${beginningOf(failureText(message, failed?.input), LINE)}`,
    ...(asked === "" ? [] : [`    asked: ${asked}`]),
    ...(opinion === "" ? [] : [`    said next: ${opinion}`]),
    ...(failed === undefined ? [] : aftermathLines(session, failed)),
  ];
}

/** Returns what a model said to a failure, without its calls, in one line; empty if nothing. */
function saidAfter(session: RecalledSession, ordinal: number): string {
  const path = session.pathThrough(ordinal);
  for (const at of path.slice(path.indexOf(ordinal) + 1)) {
    const message = fieldsOf(fieldsOf(session.entryAt(at))["message"]);
    if (message["role"] !== "assistant") continue;
    const said = partsOf(message).flatMap((part) => (part.kind === "text" ? part.text : []));
    return beginningOf(said.join(" "), LINE);
  }
  return "";
}

function aftermathLines(session: RecalledSession, failed: FinishedCall): string[] {
  const { tried, worked, isElsewhere } = aftermathOf(session, failed);
  const lineOf = (call: FinishedCall) =>
    `${beginningOf(callText(call.name, call.input), CALL_LINE)} (entry ${session.tree.idAt(call.ordinal)}${call.outcome === undefined ? "" : `, ${call.outcome}`})`;
  if (worked === undefined) return ["    nothing for the same purpose worked after it"];
  const left = tried.length - MOST_TRIED;
  return [
    ...tried.slice(-MOST_TRIED).map((call) => `    then ${lineOf(call)}`),
    ...(left > 0 ? [`    after ${count(left)} other calls`] : []),
    `    worked${isElsewhere ? " on the branch that was continued" : ""}: ${lineOf(worked)}`,
  ];
}

/** A call that has a result, or a command of a person. */
interface FinishedCall {
  readonly ordinal: number;
  readonly name: string;
  readonly input: unknown;
  readonly outcome: EntryOutcome | undefined;
}

/** Tools that run commands: what a command begins with says what it is for. */
const SHELL = /^(?:bash|shell|exec|terminal|run_?(?:shell_?)?command|local_shell|powershell|command)/i;

const WORDS = 2;
const MAX_FOLLOWED = 200;

/** Returns the call that an entry is the result of, or the command that it is; undefined for others. */
export function finishedCallAt(session: RecalledSession, ordinal: number): FinishedCall | undefined {
  const entry = session.entryAt(ordinal);
  const { role, command } = messageFieldsOf(entry);
  if (entry === undefined) return undefined;
  const outcome = outcomeOf(entry);
  if (role === "bashExecution")
    return { ordinal, name: "command", input: { command: textOf(command) }, outcome };
  const call = callOf(session, ordinal);
  return call && { ordinal, name: call.name, input: call.input, outcome };
}

/** Calls behind a failure: what was tried, and what then worked. */
interface Aftermath {
  /** In their order, without the one that worked. */
  readonly tried: readonly FinishedCall[];
  /** The first call for the same purpose that did not fail; undefined if there is none. */
  readonly worked: FinishedCall | undefined;
  /** Whether that is on the branch that was continued, while the failure is on one that was left. */
  readonly isElsewhere: boolean;
}

/**
 * Follows the branch of a failure to the first call for the same purpose that worked; if there is none, the branch that was
 * continued instead.
 *
 * @remarks Cost: O(entries behind it), at most 200 bodies on each branch.
 */
function aftermathOf(session: RecalledSession, failed: FinishedCall): Aftermath {
  const path = session.pathThrough(failed.ordinal);
  const own = firstWorking(session, path.slice(path.indexOf(failed.ordinal) + 1), failed);
  if (own.worked !== undefined || session.active.has(failed.ordinal)) return { ...own, isElsewhere: false };
  const kept = [...session.active];
  const fork = path.findLastIndex((ordinal) => session.active.has(ordinal));
  const behind = kept.slice(kept.indexOf(path[fork] ?? -1) + 1);
  const other = firstWorking(session, behind, failed);
  return other.worked === undefined ? { ...own, isElsewhere: false } : { ...other, isElsewhere: true };
}

function firstWorking(
  session: RecalledSession,
  ordinals: readonly number[],
  failed: FinishedCall,
): Omit<Aftermath, "isElsewhere"> {
  const tried: FinishedCall[] = [];
  const wanted = purposeOf(failed);
  for (const ordinal of ordinals.slice(0, MAX_FOLLOWED)) {
    const call = finishedCallAt(session, ordinal);
    if (call === undefined) continue;
    if (call.outcome === undefined && purposeOf(call) === wanted) return { tried, worked: call };
    tried.push(call);
  }
  return { tried, worked: undefined };
}

/** Says what a call is for, so that calls can be compared: of a command its first words, else the tool and what it names. */
function purposeOf({ name, input }: FinishedCall): string {
  const { command, cmd } = fieldsOf(input);
  const words = [command, cmd].find(Array.isArray);
  const text =
    words === undefined ? tellingArgument(input) : words.filter((one) => typeof one === "string").join(" ");
  if (!SHELL.test(name)) return `${name}\n${text}`;
  // What only goes to a folder first says nothing of what is run there.
  const own = text
    .trim()
    .replace(/^(?:cd\s+\S+\s*(?:&&|;)\s*)+/, "")
    .replace(/^bash\s+-l?c\s+/, "");
  return own.split(/\s+/).slice(0, WORDS).join(" ");
}
