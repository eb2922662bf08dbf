import type { SearchHit } from "../../catalog/search/search.ts";
import { fieldsOf } from "../../core/context/entry-fields.ts";
import { partsOf } from "../../core/context/message-parts.ts";
import { callText } from "../../core/facts/excerpt.ts";
import { failureText } from "../../core/facts/failure-text.ts";
import { count } from "../../core/facts/number-text.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { addPage, CURSOR } from "./answer-page.ts";
import { countArgument, optionalText } from "./argument.ts";
import { entryText } from "./entry-text.ts";
import { aftermathOf, type FinishedCall, finishedCallAt } from "./failure-aftermath.ts";
import { ALL, joined, MAX_BYTES, PROJECT, type Recall, type RecallTool, timeText } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { type OpenedEntry, SessionOpener } from "./session-opener.ts";

/** Words of an error that are looked for; the others only rank what they find. */
const MOST_LOOKED_FOR = 4;

/** Hits of each of them, latest first. */
const MOST_HITS = 200;

const MOST_READ = 40;

/** The part of an error's words, by their weight, that a failure like it has at least. */
const ALIKE = 0.4;

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
    const failures = await failuresLike(recall, get(ERROR) ?? "", recall.projectOf(call), sessions);
    await addPage(answer, call, LIMIT, failures, async (hit) => {
      const found = await sessions.entryOf(hit);
      const lines = found === undefined ? [] : failureLines(found);
      return { heading: recall.lineOf(hit.session), lines };
    });
    if (failures.length === 0)
      answer.note('No such failure. Try fewer words of the error, or {"all": true}.');
    sessions.noteLeftOut(answer);
  },
};

async function failuresLike(
  recall: Recall,
  error: string,
  cwd: string | undefined,
  sessions: SessionOpener,
): Promise<SearchHit[]> {
  const words = wordsOf(error);
  const lookedFor = words.length === 0 ? [beginningOf(error, LINE)] : words.slice(0, MOST_LOOKED_FOR);
  const found = new Map<string, { hit: SearchHit; words: string[] }>();
  const frequencies = new Map<string, number>();
  for (const text of lookedFor) {
    let hits = 0;
    for await (const hit of recall.settings.source.search({ text, cwd, failed: true })) {
      if (sessions.isRunning(hit.session)) continue;
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
    .slice(0, MOST_READ);
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

/** Returns the words that tell an error from others, the longest first. */
function wordsOf(error: string): string[] {
  const words = error.toLowerCase().match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu) ?? [];
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
