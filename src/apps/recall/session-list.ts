import { getMessageFields } from "../../core/context/entry-fields.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { formatCounted } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { getEntryKind } from "../text/entry-kind.ts";
import type { Answer, Block } from "./answer.ts";
import type { Arguments } from "./argument.ts";
import { isRecallEntry, withoutRecalled } from "./echo.ts";
import { addFound, formatMoment, joinFacts, type PageArguments, type Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import type { SessionOpener } from "./session-opener.ts";
import type { SourceQuery } from "./session-source.ts";

const MAX_END = 200;

/** Maximum number of messages, starting from the end, that are searched for the last relevant message. */
const MAX_LOOKED_AT = 200;

/** Default roles of the message that shows how a session ended. */
const ROLES = ["user", "assistant", "toolResult", "bashExecution"];

/** Filters of a search that also apply to a list of sessions. */
export type ListQuery = Pick<SourceQuery, "cwd" | "roles" | "since" | "until" | "source">;

/**
 * Adds the sessions with messages between two times, latest first: the period of these messages, and the last message with a
 * requested role. Omits the running session and subagents' sessions.
 */
export async function addSessionList(
  recall: Recall,
  call: Arguments,
  answer: Answer,
  { sessions, query, page }: { sessions: SessionOpener; query: ListQuery; page: PageArguments },
): Promise<void> {
  const running = await sessions.findRunning();
  const rows = await recall.list(query.cwd);
  const found = rows.filter((row) => !running.is(row) && mayBeWithin(row, query));
  const { shown, isMore, next } = await addFound(answer, call, page, found, async (row) => {
    await recall.time.rest();
    const session = await sessions.open(row);
    return session && makeBlock(recall, session, query);
  });
  if (isMore) answer.note(`There are more sessions. To continue: {"cursor": ${next}}`);
  else if (shown === 0 && call.get(page.cursor) === 0)
    answer.note('No sessions. Try an earlier since, or {"all": true} for other projects.');
}

/** Returns whether a session may have messages between two times. */
function mayBeWithin({ created, modified }: SessionRow, { since, until }: ListQuery): boolean {
  return (since === undefined || modified >= since) && (until === undefined || created < until);
}

async function makeBlock(
  recall: Recall,
  session: RecalledSession,
  { since, until, source, roles = ROLES }: ListQuery,
): Promise<Block | undefined> {
  const { tree, row } = session;
  if (session.isOfSubagent || (source !== undefined && !session.isFrom(source))) return undefined;
  const isInTime = (timeMs: number) =>
    !(since !== undefined && !(timeMs >= since.getTime())) &&
    !(until !== undefined && !(timeMs < until.getTime()));
  const within = [...tree.ordinals()].filter(
    (at) => tree.typeAt(at) === "message" && isInTime(tree.timeAt(at)),
  );
  const end = formatEnd(session, within, roles);
  if (end === "") return undefined;
  const times = within.map((at) => tree.timeAt(at)).filter((timeMs) => !Number.isNaN(timeMs));
  const [first = row.created.getTime(), last = row.modified.getTime()] = [times[0], times.at(-1)];
  const facts = joinFacts(
    `${formatMoment(first)} to ${formatMoment(last)}`,
    formatCounted(within.length, "message"),
  );
  return { heading: await recall.formatRow(row), lines: [`  ${facts} · ${end}`] };
}

/** Writes the last message with one of the given roles that was not recalled; empty if no such message is found. */
function formatEnd(session: RecalledSession, ordinals: readonly number[], roles: readonly string[]): string {
  for (const at of ordinals.slice(-MAX_LOOKED_AT).reverse()) {
    const entry = session.entryAt(at);
    const { role } = getMessageFields(entry);
    if (typeof role !== "string" || !roles.includes(role) || isRecallEntry(entry)) continue;
    const text = toShortLine(withoutRecalled(getExcerpt(entry).text), MAX_END);
    if (text === "") continue;
    const facts = joinFacts(
      `last entry ${session.tree.idAt(at)}`,
      getEntryKind(entry).word,
      session.branchMark(at),
    );
    return `${facts}: ${text}`;
  }
  return "";
}
