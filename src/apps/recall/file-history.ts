import { pathTest, touches } from "../../catalog/query/search-text.ts";
import { callTitle } from "../../core/facts/excerpt.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { callsIn, resultCallId, resultsOf, type StoredCall } from "../../core/facts/tool-calls.ts";
import { filesOfCall } from "../../core/facts/touched-files.ts";
import { isFailure } from "../text/entry-kind.ts";
import type { Block } from "./answer.ts";
import { type Arguments, countArgument, requiredText, switchArgument } from "./argument.ts";
import {
  ALL,
  addPage,
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
import type { RecalledSession } from "./recalled-session.ts";
import { type OpenedEntry, SessionOpener } from "./session-opener.ts";

const MOST_FOUND = 500;
const MOST_OF_CALL = 240;
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
  run: async (recall, call, answer) => {
    const { get } = call;
    const sessions = await SessionOpener.of(recall);
    const found = await callsOn(recall, call, sessions);
    const calls = found.filter((one) => one.isChanged || !get(CHANGES)).sort((a, b) => b.timeMs - a.timeMs);
    await addPage(answer, call, LIMIT, calls, (one) => one.block);
    if (calls.length === 0)
      answer.note('No past session names this file. Try only its name, or {"all": true}.');
    sessions.noteLeftOut(answer);
  },
};

interface FileCall {
  readonly timeMs: number;
  readonly isChanged: boolean;
  readonly block: Block;
}

async function callsOn(recall: Recall, call: Arguments, sessions: SessionOpener): Promise<FileCall[]> {
  const [path, cwd, times] = [call.get(PATH), recall.projectOf(call), recall.timesOf(call)];
  const calls: FileCall[] = [];
  const seen = new Set<string>();
  const query = { text: "", cwd, path, roles: ["assistant"], ...times };
  for await (const hit of sessions.search(query)) {
    // A fork has the entries of its parent: one of them is enough.
    if (seen.has(hit.entryId)) continue;
    const found = await sessions.entryOf(hit);
    if (found === undefined) continue;
    seen.add(hit.entryId);
    calls.push(...callsAt(found, path, await recall.lineOf(hit.session)));
    if (calls.length >= MOST_FOUND) break;
  }
  return calls;
}

function callsAt({ session, ordinal }: OpenedEntry, path: string, heading: string): FileCall[] {
  const { row, tree } = session;
  const test = pathTest(path);
  return callsIn(session.entryAt(ordinal)).flatMap((call) => {
    if (!touches(call, row.cwd, test)) return [];
    const isChanged = filesOfCall(call).some((file) => file.isChanged && test(file.path, row.cwd));
    const facts = joined(
      `entry ${tree.idAt(ordinal)}`,
      timeText(tree.timeAt(ordinal)),
      `${isChanged ? "changed" : "read"} with ${callTitle(call.name, call.input)}`,
      hasFailed(session, ordinal, call) ? "failed" : "",
      session.branchMark(ordinal),
    );
    const asked = session.askedAbove(ordinal, MOST_ASKED);
    const line = `  ${joined(beginningOf(facts, MOST_OF_CALL), asked === "" ? "" : `asked: ${asked}`)}`;
    return [{ timeMs: tree.timeAt(ordinal), isChanged, block: { heading, lines: [line] } }];
  });
}

function hasFailed(session: RecalledSession, ordinal: number, { id }: StoredCall): boolean {
  return resultsOf(session, ordinal).some(({ entry }) => resultCallId(entry) === id && isFailure(entry));
}
