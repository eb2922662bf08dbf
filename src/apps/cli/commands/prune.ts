import { statSync } from "node:fs";
import { summarizeSession } from "../../../catalog/list/file-summary.ts";
import { listSessions } from "../../../catalog/list/list-sessions.ts";
import { type KeepReason, planRetention, type RetentionCandidate } from "../../../catalog/trash/retention.ts";
import { deleteSession } from "../../../catalog/trash/trash.ts";
import { formatBytes, formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { getShortIdLength } from "../../../core/facts/short-id-length.ts";
import { formatAgo, parseDuration } from "../../../core/facts/times.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { FileRow } from "../../../session/files/session-row.ts";
import { callIfPresent } from "../../../session/fs/file-system.ts";
import { isThere } from "../../../session/log/replace-file.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirmChange, YES } from "../confirm.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { flag, type Parameter, rare } from "../parameters.ts";
import { getScope, listKnownSessions } from "../session-argument.ts";
import { toSessionJson } from "../session-json.ts";
import { fitColumn } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { formatTextAfter, takeShortId } from "../view/entry-line.ts";

const OLDER_THAN: Parameter<number> = {
  kind: "option",
  form: "--older-than <time>",
  description: "sessions not used for this long: 12h, 90d, 8w or 1y",
  parse: (given) => {
    if (given === undefined) throw new UsageError("Add --older-than and an age, such as 90d.");
    const timeMs = typeof given === "string" ? parseDuration(given) : undefined;
    if (timeMs !== undefined) return timeMs;
    throw new UsageError("--older-than must be a number of hours, days, weeks or years: 12h, 90d, 8w, 1y.");
  },
};
const KEEP_NAMED = flag("--keep-named", "keep sessions that have a name");
const KEEP_LABELED = flag("--keep-labeled", "keep sessions that have labels");
const ALL = flag("--all", "sessions of all projects");
const INCLUDE_PARENTS = rare(
  flag("--include-parents", "also delete sessions that kept sessions were forked from"),
);
const DRY_RUN = flag("--dry-run", "only show the plan");
const VERBOSE = rare(flag("--verbose", "also show what is kept, and why"));

const AGE_WIDTH = 10;
const SIZE_WIDTH = 9;

interface Row extends FileRow, RetentionCandidate {
  readonly size: number;
}

type Fate = KeepReason | "delete";

/** `sessiontree prune`: moves sessions that have not been used for a long time to the trash. */
export const command: Command = {
  details: `Shows the plan and asks before deleting. Without --all: the sessions of the project in the current folder; with --dir: all in that folder. Age is measured from the last message. A session is kept if any session forked from it is kept.`,
  filesOnly:
    '"sessiontree rm" deletes sessions from a database, and "sessiontree list --json" shows their times.',
  parameters: [OLDER_THAN, KEEP_NAMED, KEEP_LABELED, INCLUDE_PARENTS, ALL, VERBOSE, DRY_RUN, YES],
  examples: [
    ["prune --older-than 90d --dry-run", "what would be deleted"],
    ["prune --older-than 1y --all --keep-named --yes", "in all projects, except sessions with a name"],
  ],
  run: async (call) => {
    const plan = await makePlan(call);
    writePlan(call, plan);
    const { toDelete } = plan;
    if (call.get(DRY_RUN) || toDelete.length === 0) return EXIT_CODES.ok;
    call.out.flush();
    const question = `Move ${toDelete.length === 1 ? "it" : `these ${formatCounted(toDelete.length, "session")}`} to the trash?`;
    if (!(await confirmChange(call, question, "Nothing was deleted."))) return EXIT_CODES.failed;
    return carryOut(call, toDelete);
  },
};

interface Plan {
  readonly toDelete: readonly Row[];
  readonly kept: readonly { readonly session: Row; readonly reason: KeepReason }[];
}

async function makePlan(call: CommandCall): Promise<Plan> {
  const olderThanMs = call.get(OLDER_THAN);
  const sessions = await listSessions(getScope(call, call.get(ALL)));
  const paths = sessions.map(({ path }) => path);
  const isMeant = new Set(paths);
  const others = (await listKnownSessions(call, paths)).filter(({ path }) => !isMeant.has(path));
  const now = call.io.now();
  const policy = {
    olderThanMs,
    keepNamed: call.get(KEEP_NAMED),
    includeParents: call.get(INCLUDE_PARENTS),
  };
  const rows = sessions.map(makeRow);
  if (!call.get(KEEP_LABELED)) return planRetention(rows, policy, now, others);
  // Finding labels requires reading the session, so it is done only for sessions that would be deleted without them.
  const mayGo = new Set(planRetention(rows, { ...policy, includeParents: true }, now).toDelete);
  const looked = rows.map((row) => (mayGo.has(row) ? { ...row, isLabeled: hasLabels(row.path) } : row));
  return planRetention(looked, { ...policy, keepLabeled: true }, now, others);
}

function makeRow(session: FileRow): Row {
  return { ...session, size: callIfPresent(() => statSync(session.path))?.size ?? 0 };
}

/** Returns whether a session has labels; true if it cannot be read, so that it is kept. */
function hasLabels(path: string): boolean {
  try {
    return SessionView.at(path).labels.size > 0;
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return true;
  }
}

/**
 * Deletes sessions one by one. Keeps sessions that were changed in the meantime or that the system refuses to delete; ignores
 * sessions that another process deleted.
 */
async function carryOut(call: CommandCall, rows: readonly Row[]): Promise<ExitCode> {
  let done = 0;
  const refusals: { readonly path: string; readonly message: string }[] = [];
  for (const row of rows) {
    const { path } = row;
    try {
      if (!(await isAsPlanned(row))) {
        refusals.push({ path, message: `${path} was changed in the meantime, and is kept.` });
        continue;
      }
      const { method } = await deleteSession(path);
      if (call.json) call.out.json({ action: "deleted", id: row.id, path, method });
      done++;
    } catch (error) {
      if (!isSessionError(error)) throw error;
      refusals.push({ path, message: error.message });
    }
  }
  const left = refusals.filter(({ path }) => isThere(path));
  for (const { message } of left) call.warn(message);
  if (!call.json) call.out.line(`${formatCounted(done, "session")} moved to the trash.`);
  return left.length === 0 ? EXIT_CODES.ok : EXIT_CODES.failed;
}

/**
 * Returns whether a session is unchanged since the plan was made: it may have been continued while the question was displayed.
 */
async function isAsPlanned({ path, size, modified }: Row): Promise<boolean> {
  if (callIfPresent(() => statSync(path))?.size !== size) return false;
  return (await summarizeSession(path))?.modified.getTime() === modified.getTime();
}

function writePlan(call: CommandCall, { toDelete, kept }: Plan): void {
  const { json, out } = call;
  const isVerbose = call.get(VERBOSE);
  const rows: [row: Row, fate: Fate][] = toDelete.map((row) => [row, "delete"]);
  if (isVerbose) rows.push(...kept.map(({ session, reason }): [Row, Fate] => [session, reason]));
  if (json) {
    for (const [row, fate] of rows) out.json(toRowJson(row, fate));
    return;
  }
  writeRows(call, rows);
  const size = toDelete.reduce((sum, row) => sum + row.size, 0);
  const freed = size === 0 ? "" : ` (${formatBytes(size)})`;
  out.prose(
    `${formatCounted(toDelete.length, "session")} to delete${freed}, ${formatCount(kept.length)} to keep.`,
  );
}

function toRowJson({ size, ...row }: Row, fate: Fate): object {
  const facts = { ...toSessionJson(row), bytes: size };
  return fate === "delete" ? { action: "delete", ...facts } : { action: "keep", reason: fate, ...facts };
}

/** Writes one line per session: short id, age, size, the reason if the session is kept, and title. */
function writeRows(call: CommandCall, rows: readonly (readonly [Row, Fate])[]): void {
  const { out } = call;
  const { colors } = out;
  const now = call.io.now();
  const idLength = getShortIdLength(rows.map(([{ id }]) => id));
  for (const [row, fate] of rows) {
    const { id, name, modified, size } = row;
    const facts = [
      colors.dim(fitColumn(takeShortId(id, idLength), idLength)),
      fitColumn(formatAgo(modified.getTime(), now), AGE_WIDTH),
      colors.dim(formatBytes(size).padStart(SIZE_WIDTH)),
    ].join("  ");
    const front = fate === "delete" ? facts : `${facts}  ${colors.green(`keep: ${fate}`)}`;
    out.line(formatTextAfter(front, row.title, out, name === undefined ? String : colors.bold));
  }
}
