import { toRecord } from "../../../core/context/entry-fields.ts";
import { formatFailure } from "../../../core/facts/failure-text.ts";
import { toShortLine } from "../../../core/facts/plain-text.ts";
import { getToolCalls } from "../../../core/facts/tool-calls.ts";
import { findCallFiles } from "../../../core/facts/touched-files.ts";
import { getEntryKind, isFailure } from "../../text/entry-kind.ts";
import type { Answer } from "../answer.ts";
import { withoutRecalled } from "../echo.ts";
import { formatEntryText } from "../entry-text.ts";
import { findFinishedCall } from "../find-failures.ts";
import type { Recall } from "../recall.ts";
import type { RecalledSession } from "../recalled-session.ts";
import type { SessionOpener } from "../session-opener.ts";
import { isTooLarge } from "./large-sessions.ts";

/** Maximum number of sessions to examine: subagents' sessions may precede the user's last session. */
const MAX_LOOKED_AT = 12;

/** Maximum number of entries at the end of a session that are searched for its last turn. */
const MAX_ENTRIES = 400;

const REQUEST = 240;
const ANSWER = 560;
const FAILURE = 160;
const MAX_FILES = 6;

/** Adds the end of the project's last session, if there is one. */
export async function writeLastSession(
  recall: Recall,
  sessions: SessionOpener,
  answer: Answer,
): Promise<void> {
  const running = await sessions.findRunning();
  const rows = await recall.list(recall.settings.project);
  for (const row of rows.filter((one) => !running.is(one)).slice(0, MAX_LOOKED_AT)) {
    // An older session is not the last one.
    if (isTooLarge(row)) return;
    const session = await sessions.open(row);
    const turn = session && !session.isOfSubagent ? await readLastTurn(session) : undefined;
    if (session === undefined || turn === undefined) continue;
    for (const line of [await recall.formatRow(row), ...formatLastTurn(session, turn)]) answer.addText(line);
    answer.note("This is how the last session of this project ended.");
    return;
  }
}

/** Last turn of the active branch. */
interface LastTurn {
  readonly request: number;
  readonly answer: number | undefined;
  /** Last result, if it is a failure. */
  readonly failure: number | undefined;
  /** Files changed in the turn, latest first. */
  readonly files: readonly string[];
}

/** Returns the last turn; undefined if the examined entries contain no request. */
async function readLastTurn(session: RecalledSession): Promise<LastTurn | undefined> {
  const path = [...session.tree.path(session.view.leaf)].slice(-MAX_ENTRIES).reverse();
  const files = new Set<string>();
  let answer: number | undefined;
  let result: { readonly ordinal: number; readonly isFailed: boolean } | undefined;
  for await (const [ordinal, entry] of session.readStored(path)) {
    const { word, tone } = getEntryKind(entry);
    if (word === "user") {
      const failure = result?.isFailed === true ? result.ordinal : undefined;
      return { request: ordinal, answer, failure, files: [...files] };
    }
    if (tone === "tool" || tone === "command") result ??= { ordinal, isFailed: isFailure(entry) };
    if (word !== "assistant") continue;
    if (getToolCalls(entry).length === 0) answer ??= ordinal;
    // File names are shown, so they come from the clean entry.
    else for (const file of findChangedFiles(session, ordinal)) files.add(file);
  }
  return undefined;
}

function findChangedFiles(session: RecalledSession, ordinal: number): string[] {
  return getToolCalls(session.entryAt(ordinal))
    .flatMap(findCallFiles)
    .flatMap(({ path, isChanged }) => (isChanged ? path : []));
}

function formatLastTurn(session: RecalledSession, { request, answer, failure, files }: LastTurn): string[] {
  const quote = (ordinal: number, longest: number) =>
    toShortLine(withoutRecalled(formatEntryText(session.entryAt(ordinal), false)), longest);
  const failed = failure === undefined ? undefined : toRecord(session.entryAt(failure))["message"];
  const input = failure === undefined ? undefined : findFinishedCall(session, failure)?.input;
  const left = files.length - MAX_FILES;
  return [
    `  asked last: ${quote(request, REQUEST)}`,
    answer === undefined ? "  no final answer: it was stopped" : `  answered: ${quote(answer, ANSWER)}`,
    ...(failed === undefined ? [] : [`  failed last: ${toShortLine(formatFailure(failed, input), FAILURE)}`]),
    ...(files.length === 0
      ? []
      : [`  changed: ${files.slice(0, MAX_FILES).join(", ")}${left > 0 ? ` and ${left} more` : ""}`]),
  ];
}
