import { FRONT_ENTRIES, saysSubagent } from "../../catalog/list/session-calls.ts";
import { fieldsOf } from "../../core/context/entry-fields.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { failureText } from "../../core/facts/failure-text.ts";
import { count, counted, dollars } from "../../core/facts/number-text.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { timeRange } from "../../core/facts/time-range.ts";
import { callsIn } from "../../core/facts/tool-calls.ts";
import { filesOfCall } from "../../core/facts/touched-files.ts";
import { ModelsInUse, modelName, tokensIn, UNKNOWN_MODEL, usageOf } from "../../core/facts/usage.ts";
import { type ModelUsage, UsageTally } from "../../core/facts/usage-tally.ts";
import { importOriginIn } from "../../core/format/import-origin.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { countKinds, type EntryKind, kindOf } from "../text/entry-kind.ts";
import type { Answer } from "./answer.ts";
import { finishedCallAt } from "./failure-aftermath.ts";
import { joined, MAX_BYTES, type Recall, type RecallTool, SESSION, timeText } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

const MOST_BRANCHES = 8;
const MOST_FILES = 12;
const MOST_NAMED = 5;
const LINE = 140;

/** Tells what a session was about. */
export const sessionOverviewTool: RecallTool = {
  name: "session_overview",
  title: "Overview of a past session",
  description:
    "Tells what a past session was about: times, models, branches and which of them were left, labels, summaries, files, failures, tokens and cost, parent and subagents.",
  arguments: [SESSION, MAX_BYTES],
  run: async (recall, call, answer) => writeOverview(recall, await recall.find(call.get(SESSION)), answer),
};

/** Adds what a session was about; what does not fit is left out, from the end. */
export async function writeOverview(recall: Recall, session: RecalledSession, answer: Answer): Promise<void> {
  const lines = [...factLines(recall, session), ...(await relatedLines(recall, session))];
  const left = lines.findIndex((line) => !answer.add(line));
  if (left >= 0) answer.note(`${counted(lines.length - left, "line")} left out; ask with more max_bytes.`);
}

function factLines(recall: Recall, session: RecalledSession): string[] {
  const { row, tree, view } = session;
  const facts = readFacts(session);
  const [first, last] = timeRange(tree);
  const kinds = countKinds({ kinds: facts.kinds, failures: new Set(facts.failures) });
  const { total, byModel } = facts.usage;
  return [
    recall.lineOf(row),
    `project: ${row.cwd}${facts.source === "" ? "" : ` · imported from ${facts.source}`}`,
    `time: ${timeText(first)} to ${timeText(last)}`,
    String(kinds),
    `tokens: ${count(tokensIn(total))} in, ${count(total.output)} out · cost ${dollars(total.cost)}`,
    ...byModel.slice(0, MOST_NAMED).map(modelLine),
    ...branchLines(session),
    ...some(
      [...view.labels],
      MOST_NAMED,
      "labels",
      ([id, { label }]) => `label ${JSON.stringify(label)} on entry ${id}`,
    ),
    ...some(facts.summaries, MOST_NAMED, "summaries", (at) => `summary ${entryLine(session, at)}`),
    ...some(facts.failures, MOST_NAMED, "failures", (at) => `failed ${entryLine(session, at)}`),
    ...some(facts.changed, MOST_FILES, "changed files", (path) => `changed ${path}`),
    ...some(facts.read, MOST_FILES, "files that were only read", (path) => `read ${path}`),
    ...(view.issues.length === 0 ? [] : [`damaged: ${counted(view.issues.length, "issue")}`]),
  ];
}

/** Writes the last ones of a list, and how many others there are. */
function some<T>(all: readonly T[], most: number, what: string, lineOf: (one: T) => string): string[] {
  const left = all.length - most;
  return [...all.slice(-most).map(lineOf), ...(left > 0 ? [`and ${count(left)} other ${what}`] : [])];
}

function modelLine({ count: calls, ...usage }: ModelUsage): string {
  return joined(
    `model ${modelName(usage) || UNKNOWN_MODEL}`,
    counted(calls, "call"),
    `${count(usage.totalTokens)} tokens`,
    `cost ${dollars(usage.cost)}`,
  );
}

interface SessionFacts {
  readonly kinds: EntryKind[];
  readonly failures: number[];
  readonly summaries: number[];
  readonly usage: UsageTally;
  readonly changed: readonly string[];
  readonly read: readonly string[];
  /** The program that it was imported from; empty if it was not. */
  readonly source: string;
}

function readFacts(session: RecalledSession): SessionFacts {
  const [kinds, failures, summaries]: [EntryKind[], number[], number[]] = [[], [], []];
  const [usage, models] = [new UsageTally(), new ModelsInUse()];
  const files = new Map<string, boolean>();
  let source = "";
  session.readEntries(session.tree.ordinals(), (ordinal, entry) => {
    kinds[ordinal] = kindOf(entry);
    if (entry === undefined) return;
    if (outcomeOf(entry) === "failed") failures.push(ordinal);
    if (entry.type === "compaction" || entry.type === "branch_summary") summaries.push(ordinal);
    source ||= importOriginIn(entry)?.source ?? "";
    const used = usageOf(entry);
    if (used !== undefined) usage.add(used, models.of(entry));
    for (const { path, isChanged } of callsIn(entry).flatMap(filesOfCall))
      files.set(path, isChanged || files.get(path) === true);
  });
  const paths = [...files];
  return {
    kinds,
    failures,
    summaries,
    usage,
    changed: paths.flatMap(([path, isChanged]) => (isChanged ? path : [])),
    read: paths.flatMap(([path, isChanged]) => (isChanged ? [] : path)),
    source,
  };
}

function branchLines(session: RecalledSession): string[] {
  const { tree, active } = session;
  const tips = [...tree.leaves()].sort((a, b) => Number(active.has(b)) - Number(active.has(a)) || b - a);
  const lines = tips.map((tip) => {
    const path = [...tree.path(tip)];
    const own = path.filter((ordinal) => !active.has(ordinal));
    const isActive = own.length === 0;
    // What was said first tells a branch from the one that it left.
    const from = saidFirst(session, isActive ? path : own);
    return `${isActive ? "active branch" : "left branch"} up to entry ${tree.idAt(tip)}, ${counted(isActive ? path.length : own.length, "entry", "entries")}${from}`;
  });
  const left = lines.length - MOST_BRANCHES;
  return [...lines.slice(0, MOST_BRANCHES), ...(left > 0 ? [`and ${count(left)} other branches`] : [])];
}

function saidFirst(session: RecalledSession, ordinals: readonly number[]): string {
  const at = ordinals.find((ordinal) => kindOf(session.entryAt(ordinal)).tone === "user") ?? ordinals[0];
  return at === undefined ? "" : `: ${beginningOf(excerptOf(session.entryAt(at)).text, LINE)}`;
}

function entryLine(session: RecalledSession, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  const hasFailed = entry !== undefined && outcomeOf(entry) === "failed";
  const text = hasFailed
    ? failureText(fieldsOf(entry)["message"], finishedCallAt(session, ordinal)?.input)
    : excerptOf(entry).text;
  const mark = session.branchMark(ordinal);
  return `entry ${session.tree.idAt(ordinal)}${mark === "" ? "" : ` (${mark})`}: ${beginningOf(text, LINE)}`;
}

/** Names the sessions that this one was made from, and those made from it. */
async function relatedLines(recall: Recall, session: RecalledSession): Promise<string[]> {
  const { id, path, parentSession } = session.row;
  const rows = await recall.settings.source.list(undefined);
  const isOf = (row: SessionRow, name: string | undefined) =>
    name !== undefined && (row.id === name || row.path === name);
  const parent = rows.find((row) => isOf(row, parentSession));
  const children = rows.filter(
    ({ parentSession: of, id: own }) => of !== undefined && own !== id && (of === id || of === path),
  );
  const made = hasSubagentMark(session) ? "subagent of" : "forked from";
  const origin = parent === undefined ? session.clean(parentSession ?? "") : recall.lineOf(parent);
  return [
    ...(parentSession === undefined ? [] : [`${made} ${origin}`]),
    ...some(children, MOST_NAMED, "sessions", (row) => `continued in or delegated to ${recall.lineOf(row)}`),
  ];
}

/** Tells whether a subagent had the session: its import says so in front. */
function hasSubagentMark({ tree, view }: RecalledSession): boolean {
  const front = [...tree.ordinals()].slice(0, FRONT_ENTRIES);
  return front.some((ordinal) => saysSubagent(fieldsOf(view.entryAt(ordinal))));
}
