import { isTouching, makePathTest } from "../../catalog/query/search-text.ts";
import { formatCallTitle } from "../../core/facts/excerpt.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { findResults, getResultCallId, getToolCalls, type StoredCall } from "../../core/facts/tool-calls.ts";
import { findCallFiles } from "../../core/facts/touched-files.ts";
import { isFailure } from "../text/entry-kind.ts";
import type { Block } from "./answer.ts";
import { type Arguments, requiredText, switchArgument } from "./argument.ts";
import { isRecallTool } from "./echo.ts";
import {
  ALL,
  addPage,
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
import type { RecalledSession } from "./recalled-session.ts";
import { type OpenedEntry, SessionOpener } from "./session-opener.ts";

const MAX_FOUND = 500;
const MAX_CALL_LENGTH = 240;
const MAX_ASKED = 120;

const PATH = requiredText("path", "the file, absolute or from anywhere below the project");
const CHANGES = switchArgument("changes_only", "only calls that write");
const PAGE = pageArguments("calls", { max: 50, fallback: 15 });

/** Tool that returns the sessions that read or changed a file, with the user's requests. */
export const fileHistoryTool: RecallTool = {
  name: "file_history",
  title: "History of a file",
  description:
    "Returns the history of a file in past sessions: when previous conversations read or changed it, newest first, with what the user had asked for. Use it before you change a file whose reasons you do not know or remember.",
  arguments: [PATH, CHANGES, PROJECT, ALL, SINCE, UNTIL, PAGE.limit, PAGE.cursor, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const sessions = new SessionOpener(recall);
    const found = await findCalls(recall, call, sessions);
    const calls = found.filter((one) => one.isChanged || !get(CHANGES)).sort((a, b) => b.timeMs - a.timeMs);
    await addPage(answer, call, PAGE, calls, (one) => one.block);
    if (calls.length === 0)
      answer.note('No past session names this file. Try only its name, or {"all": true}.');
    sessions.noteLeftOut(answer);
  },
};

/** Call that names a file. */
export interface FileCall {
  readonly timeMs: number;
  readonly isChanged: boolean;
  readonly block: Block;
}

async function findCalls(recall: Recall, call: Arguments, sessions: SessionOpener): Promise<FileCall[]> {
  const [path, cwd, times] = [call.get(PATH), recall.getProject(call), recall.getTimes(call)];
  const calls: FileCall[] = [];
  const seen = new Set<string>();
  const query = { text: "", cwd, path, roles: ["assistant"], ...times };
  for await (const hit of sessions.search(query)) {
    // A fork has the entries of its parent, so each is shown once.
    if (seen.has(hit.entryId)) continue;
    const found = await sessions.openEntry(hit);
    if (found === undefined) continue;
    seen.add(hit.entryId);
    calls.push(...findCallsAt(found, path, await recall.formatRow(hit.session)));
    if (calls.length >= MAX_FOUND) break;
  }
  return calls;
}

/** Returns an entry's calls that refer to a file. */
export function findCallsAt({ session, ordinal }: OpenedEntry, path: string, heading: string): FileCall[] {
  const { row, tree } = session;
  const test = makePathTest(path);
  return getToolCalls(session.entryAt(ordinal)).flatMap((call) => {
    if (isRecallTool(call.name) || !isTouching(call, row.cwd, test)) return [];
    const isChanged = findCallFiles(call).some((file) => file.isChanged && test(file.path, row.cwd));
    const facts = joinFacts(
      `entry ${tree.idAt(ordinal)}`,
      formatEntryTime(tree.timeAt(ordinal), session.row),
      `${isChanged ? "changed" : "read"} with ${formatCallTitle(call.name, call.input)}`,
      hasFailed(session, ordinal, call) ? "failed" : "",
      session.branchMark(ordinal),
    );
    const asked = session.askedAbove(ordinal, MAX_ASKED);
    const line = `  ${joinFacts(toShortLine(facts, MAX_CALL_LENGTH), asked === "" ? "" : `asked: ${asked}`)}`;
    return [{ timeMs: tree.timeAt(ordinal), isChanged, block: { heading, lines: [line] } }];
  });
}

function hasFailed(session: RecalledSession, ordinal: number, { id }: StoredCall): boolean {
  return findResults(session, ordinal).some(({ entry }) => getResultCallId(entry) === id && isFailure(entry));
}
