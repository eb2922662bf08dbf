import { getMessageFields } from "../../core/context/entry-fields.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import { getToolCalls } from "../../core/facts/tool-calls.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

/** Environment variables that programs use to pass the id of their session to child processes. */
const SESSION_VARIABLES = ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID"];

/** Maximum age of the last message for an unfinished turn to be considered running. */
const TURN_MS = 10 * 60_000;

/**
 * Maximum age of the last write to an imported session's source, after its import, for the source to be treated as still being
 * written.
 */
const WRITE_MS = 60_000;

/** Maximum number of the latest sessions to examine. */
const MAX_LOOKED_AT = 20;

/** Session that makes the call, which is omitted because the caller knows its content. */
export interface RunningSession {
  is(row: Pick<SessionRow, "id">): boolean;
  /** Note on the omitted sessions and the reason; undefined if none were omitted. */
  readonly note: string | undefined;
}

/** Opens the session of a row; returns undefined if it no longer exists or cannot be read. */
type OpenSession = (row: SessionRow) => Promise<RecalledSession | undefined>;

/**
 * Finds the running session: the one specified by the call; or else by the environment, unless the project has a newer session,
 * because a program may start another session without restarting its servers; or else those still being written.
 */
export async function findRunningSession(recall: Recall, open: OpenSession): Promise<RunningSession> {
  const { caller, settings } = recall;
  if (caller.length > 0) return makeNamed(caller, "named by its program");
  const rows = await recall.list(settings.project);
  const variable = SESSION_VARIABLES.find((name) => settings.env[name]);
  const named = (variable && settings.env[variable]) ?? "";
  if (variable === undefined || named === "") return findWrittenSessions(recall, open);
  // The earliest one: those of subagents come later.
  const [own] = rows
    .filter(({ id }) => hasId(id, named))
    .sort((a, b) => a.created.getTime() - b.created.getTime());
  if (own !== undefined && rows.some((row) => isNewer(row, own, named)))
    return findWrittenSessions(recall, open);
  const running = makeNamed([named], variable);
  if (own !== undefined) return running;
  // A session that is not listed may have been cleared before it was imported.
  const written = await findWrittenSessions(recall, open);
  return { is: (row) => running.is(row) || written.is(row), note: written.note ?? running.note };
}

function isNewer(row: SessionRow, own: SessionRow, named: string): boolean {
  return row.cwd === own.cwd && row.created > own.created && !hasId(row.id, named);
}

/** Returns whether an id refers to a program's session; an imported session's id may contain more than the program's id. */
function hasId(id: string, named: string): boolean {
  return id === named || id.split(".").includes(named);
}

function makeNamed(names: readonly string[], reason: string): RunningSession {
  return {
    is: ({ id }) => names.some((name) => hasId(id, name)),
    note: `Left out: the running session ${names.join(", ")} (${reason}).`,
  };
}

/**
 * Finds the project's sessions that are still being written: their last turn has not ended, or the file that they were imported
 * from has changed since the import. Excludes sessions that have recently ended.
 */
export async function findWrittenSessions(recall: Recall, open: OpenSession): Promise<RunningSession> {
  const rows = await recall.list(recall.settings.project);
  const written = new Set<string>();
  for (const row of rows.slice(0, MAX_LOOKED_AT)) if (await isWritten(recall, row, open)) written.add(row.id);
  const ids = [...written].join(", ");
  return {
    is: ({ id }) => written.has(id),
    note:
      ids === "" ? undefined : `Left out: ${ids}, still being written, so assumed to be the running session.`,
  };
}

async function isWritten(recall: Recall, row: SessionRow, open: OpenSession): Promise<boolean> {
  const { source, now } = recall.settings;
  const nowMs = now();
  if (nowMs - row.modified.getTime() <= TURN_MS) {
    const session = await open(row);
    if (session !== undefined && isInTurn(session)) return true;
  }
  const writtenMs = source.findLaterWrite(row);
  return writtenMs !== undefined && nowMs - writtenMs <= WRITE_MS;
}

/**
 * Returns whether the last message is still pending: a prompt or a result awaits an answer, or a call awaits its
 * result.
 */
function isInTurn({ tree, view }: RecalledSession): boolean {
  for (let at = view.leaf; at !== NONE; at = tree.parentAt(at)) {
    if (tree.typeAt(at) !== "message") continue;
    const entry = view.entryAt(at);
    const { role } = getMessageFields(entry);
    if (role === "user" || role === "toolResult") return true;
    if (role !== "assistant" || entry === undefined) return false;
    return outcomeOf(entry) === undefined && getToolCalls(entry).length > 0;
  }
  return false;
}
