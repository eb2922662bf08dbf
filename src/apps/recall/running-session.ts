import type { SessionRow } from "../../session/files/session-row.ts";

/** Variables in which programs tell their children the session that they belong to. */
const SESSION_VARIABLES = ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID"];

/** A session of the project that changed so recently is taken for the running one, where no program tells which it is. */
const RECENT_MS = 60_000;

/** The session in which the question is asked: what is found there, the caller knows. */
export interface RunningSession {
  readonly is: (row: Pick<SessionRow, "id">) => boolean;
  /** Says which session was left out; undefined if none was. */
  readonly note: string | undefined;
}

/** Finds the running session: the one that the environment names, else those of the project that changed within the last minute. */
export function findRunningSession(
  rows: readonly SessionRow[],
  env: { readonly [name: string]: string | undefined },
  nowMs: number,
): RunningSession {
  const variable = SESSION_VARIABLES.find((name) => env[name]);
  const named = variable && env[variable];
  if (named) {
    // An imported session may have more in its id than its program has.
    const is = ({ id }: Pick<SessionRow, "id">) => id.split(".").includes(named);
    return { is, note: `Left out: the running session ${named} (${variable}).` };
  }
  const recent = new Set(
    rows.filter(({ modified }) => nowMs - modified.getTime() <= RECENT_MS).map(({ id }) => id),
  );
  const ids = [...recent].join(", ");
  return {
    is: ({ id }) => recent.has(id),
    note:
      ids === ""
        ? undefined
        : `Left out: ${ids}, changed within the last minute, so taken for the running session.`,
  };
}
