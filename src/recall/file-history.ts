import { pathTest, touches } from "../search/touched-paths.ts";
import { isFailure } from "../view/entry-kind.ts";
import { callText } from "../view/excerpt.ts";
import { plainLine } from "../view/plain.ts";
import { callsIn, resultCallId, resultsOf, type StoredCall } from "../view/tool-calls.ts";
import { filesOfCall } from "../view/touched-files.ts";
import { count } from "../view/words.ts";
import { type Arguments, countArgument, requiredText, switchArgument } from "./argument.ts";
import {
  ALL,
  joined,
  MAX_BYTES,
  PROJECT,
  type Recall,
  type RecallTool,
  SINCE,
  timeText,
  UNTIL,
} from "./recall.ts";
import { cut, type RecalledSession } from "./recalled-session.ts";
import { CURSOR } from "./search-past.ts";
import { SessionOpener } from "./session-opener.ts";

/** Entries that are found at most, latest sessions first. */
const MOST_FOUND = 500;

/** Characters of a call. */
const MOST_OF_CALL = 240;

/** Characters of what was asked. */
const MOST_ASKED = 120;

const PATH = requiredText("path", "the file, absolute or from anywhere below the project");
const CHANGES = switchArgument("changes_only", "only calls that write");
const LIMIT = countArgument(["limit", "the most calls"], { least: 1, most: 50, fallback: 15 });

/** Tells which sessions read or changed a file, and what for. */
export const fileHistoryTool: RecallTool = {
  name: "file_history",
  title: "History of a file",
  description:
    "Lists when past sessions read or changed a file, newest first, with what the user had asked for. Ask before you change a file whose reasons you do not know.",
  arguments: [PATH, CHANGES, PROJECT, ALL, SINCE, UNTIL, LIMIT, CURSOR, MAX_BYTES],
  run: async (recall, call) => {
    const { get } = call;
    const answer = recall.answer(call);
    const running = await recall.running();
    const sessions = new SessionOpener(recall);
    const found = await callsOn(recall, call, running.is, sessions);
    const calls = found.filter((one) => one.isChanged || !get(CHANGES)).sort((a, b) => b.timeMs - a.timeMs);
    const [skipped, limit] = [get(CURSOR), get(LIMIT)];
    let shown = 0;
    let last: string | undefined;
    for (const one of calls.slice(skipped, skipped + limit)) {
      const { line, sessionLine } = one;
      if (!answer.addBlock(...(sessionLine === last ? [] : [sessionLine]), line)) break;
      last = sessionLine;
      shown++;
    }
    if (calls.length === 0)
      answer.note('No past session names this file. Try only its name, or {"all": true}.');
    else if (skipped + shown < calls.length) {
      const next = skipped + shown;
      answer.note(`${count(calls.length - next)} earlier calls. To go on: {"cursor": ${next}}`);
    }
    if (running.note !== undefined) answer.note(running.note);
    sessions.noteUnreadable(answer);
    return answer.finish();
  },
};

/** A call that names the file. */
interface FileCall {
  readonly timeMs: number;
  readonly isChanged: boolean;
  readonly sessionLine: string;
  readonly line: string;
}

async function callsOn(
  recall: Recall,
  call: Arguments,
  isRunning: (row: { readonly id: string }) => boolean,
  sessions: SessionOpener,
): Promise<FileCall[]> {
  const path = call.get(PATH);
  const options = { path, roles: ["assistant"], ...recall.timesOf(call) };
  const calls: FileCall[] = [];
  const seen = new Set<string>();
  for await (const hit of recall.settings.source.search({
    text: "",
    cwd: recall.projectOf(call),
    ...options,
  })) {
    // A fork has the entries of its parent: one of them is enough.
    if (isRunning(hit.session) || seen.has(hit.entryId)) continue;
    const session = await sessions.open(hit.session);
    const ordinal = session?.tree.find(hit.entryId) ?? -1;
    if (session === undefined || ordinal < 0) continue;
    seen.add(hit.entryId);
    calls.push(...callsAt(session, ordinal, path, recall.lineOf(hit.session)));
    if (calls.length >= MOST_FOUND) break;
  }
  return calls;
}

function callsAt(session: RecalledSession, ordinal: number, path: string, sessionLine: string): FileCall[] {
  const { row, tree } = session;
  const test = pathTest(path);
  return callsIn(session.entryAt(ordinal)).flatMap((call) => {
    if (!touches(call, row.cwd, test)) return [];
    const isChanged = filesOfCall(call).some((file) => file.isChanged && test(file.path, row.cwd));
    const facts = joined(
      `  entry ${tree.idAt(ordinal)}`,
      timeText(tree.timeAt(ordinal)),
      `${isChanged ? "changed" : "read"} with ${plainLine(callText(call.name, call.input)).slice(2)}`,
      hasFailed(session, ordinal, call) ? "failed" : "",
      session.branchMark(ordinal),
    );
    const asked = session.askedAbove(ordinal, MOST_ASKED);
    const line = cut(facts, MOST_OF_CALL);
    return [
      {
        timeMs: tree.timeAt(ordinal),
        isChanged,
        sessionLine,
        line: asked === "" ? line : `${line} · asked: ${asked}`,
      },
    ];
  });
}

function hasFailed(session: RecalledSession, ordinal: number, { id }: StoredCall): boolean {
  return resultsOf(session, ordinal).some(({ entry }) => resultCallId(entry) === id && isFailure(entry));
}
