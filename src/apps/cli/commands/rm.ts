import { Descent } from "../../../catalog/list/lineage.ts";
import { assertPlainFile } from "../../../catalog/trash/trash.ts";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { formatAgo } from "../../../core/facts/times.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { FileRow, SessionRow } from "../../../session/files/session-row.ts";
import { isSystemError } from "../../../session/files/skipped-files.ts";
import { toFileError } from "../../../session/log/file-errors.ts";
import { notASessionAt } from "../../../session/log/foreign-file.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirmChange, confirmQuestion, YES } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { findLeftovers } from "../leftover-files.ts";
import type { NamedSession } from "../named-session.ts";
import { argumentList, flag, rare } from "../parameters.ts";
import { listKnownSessions } from "../session-argument.ts";
import { truncateLine } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";

const SESSIONS = argumentList("<sessions...>", "the sessions");
const PERMANENT = flag("--permanent", "delete them permanently instead");
const FORCE = rare(
  flag("--force", "also files that are not sessions, and sessions that a process has leased"),
);
const ID_WIDTH = 36;
const MAX_NAMED = 5;

interface Candidate {
  readonly session: NamedSession;
  /** Row of the session; undefined if it is not a session, or cannot be read. */
  readonly info: SessionRow | undefined;
  readonly descendants: readonly FileRow[];
}

/** `sessiontree rm`: deletes sessions, by moving files to the trash by default. */
export const command: Command = {
  details: `It asks for confirmation. With --yes, it does not ask, and a session must be specified by its path, or by its id or name or the beginning of one. "sessiontree restore" restores sessions from the trash. It lists sessions that were forked from a deleted one; they are complete without it. Backups next to a session (.bak) are kept. Sessions in a database are deleted permanently, after confirmation.`,
  parameters: [SESSIONS, PERMANENT, FORCE, YES],
  examples: [
    ["rm 1a2b3c4d", "into the trash"],
    ["rm old.jsonl older.jsonl --permanent --yes", "permanently, without asking"],
  ],
  run: async (call) => {
    const candidates = await getCandidates(call);
    if (!(await isMeant(call, candidates))) return EXIT_CODES.failed;
    let isDone = true;
    for (const candidate of candidates) if (!(await deleteOne(call, candidate))) isDone = false;
    return isDone ? EXIT_CODES.ok : EXIT_CODES.failed;
  },
};

/** Checks all sessions before deleting any, so that nothing is deleted if a name is wrong. */
async function getCandidates(call: CommandCall): Promise<Candidate[]> {
  const found = await findNamedSessions(call);
  const looked: Omit<Candidate, "descendants">[] = [];
  for (const session of found) {
    const { path } = session;
    if (path !== undefined) assertPlainFile(path);
    const info = await readInfo(session, call.get(FORCE));
    if (path !== undefined && info === undefined && !call.get(FORCE)) throw notASessionAt(path);
    looked.push({ session, info });
  }
  const paths = found.flatMap(({ path }) => path ?? []);
  const going = looked.flatMap(({ session: { path }, info }) => (path && info ? { ...info, path } : []));
  const known = paths.length === 0 ? [] : await listKnownSessions(call, paths);
  const others = known.filter(({ path }) => going.every((one) => one.path !== path));
  const descent = new Descent([...going, ...others]);
  return looked.map(({ session, info }) => {
    const own = going.filter(({ path }) => path === session.path);
    return { session, info, descendants: descent.findDescendants(own).filter((one) => others.includes(one)) };
  });
}

/** Finds the named sessions without duplicates; all must be in files, or all in a database. */
async function findNamedSessions({ findKeptSession, get }: CommandCall): Promise<NamedSession[]> {
  const found = new Map<string, NamedSession>();
  // With `--yes`, words of a name do not identify a session, because no user confirms the match.
  const match = get(YES) ? "beginning" : "words";
  for (const name of get(SESSIONS)) {
    const session = await findKeptSession(name, match);
    found.set(session.location.text, session);
  }
  const sessions = [...found.values()];
  const file = sessions.find(({ path }) => path !== undefined);
  if (file === undefined || sessions.every(({ path }) => path !== undefined)) return sessions;
  throw new UsageError(
    `${file.location.text} is a file, and others are in the database; delete them separately.`,
  );
}

/** Returns the row of a session; undefined if it is not a session or, with `isForced`, cannot be read. */
async function readInfo(session: NamedSession, isForced: boolean): Promise<SessionRow | undefined> {
  try {
    return await session.row();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (!isForced) throw toFileError(session.location.text, "read", error);
    return undefined;
  }
}

/** Describes what would be deleted, and asks for confirmation. */
async function isMeant(call: CommandCall, candidates: readonly Candidate[]): Promise<boolean> {
  const isInTrash = !call.get(PERMANENT) && candidates.every(({ session }) => session.path !== undefined);
  const lines = candidates.flatMap((candidate) => [
    describeCandidate(call, candidate),
    ...formatDescent(call, candidate),
  ]);
  const what = candidates.length === 1 ? "it" : `these ${formatCounted(candidates.length, "session")}`;
  const { stored } = call;
  const isStored = candidates.some(({ session }) => session.path === undefined);
  const from = stored !== undefined && isStored ? ` from ${toPlainLine(stored.address)}` : "";
  const question = isInTrash ? `Move ${what} to the trash?` : `Delete ${what}${from} permanently?`;
  return confirmChange(call, [...lines, question].join("\n"), "Nothing was deleted.");
}

/** Deletes a session and reports it; returns false if it was not deleted. */
async function deleteOne(call: CommandCall, candidate: Candidate): Promise<boolean> {
  const { session } = candidate;
  const force = call.get(FORCE);
  try {
    writeDeleted(call, candidate, await session.delete({ permanent: call.get(PERMANENT), force }));
    return true;
  } catch (error) {
    if (!isSessionError(error) || error.code === "STORE_UNAVAILABLE") throw error;
    call.warn(error.message);
    const isTrashBroken = error.code === "WRITE_FAILED" && !call.get(PERMANENT) && !call.get(YES);
    if (!isTrashBroken || session.path === undefined || call.io.ask === undefined) return false;
  }
  if (!(await confirmQuestion(call, "Delete it permanently instead?"))) return false;
  writeDeleted(call, candidate, await session.delete({ permanent: true, force }));
  return true;
}

function writeDeleted(call: CommandCall, candidate: Candidate, method: "trash" | "permanent"): void {
  const { out } = call;
  const { info, descendants } = candidate;
  const { location, path } = candidate.session;
  const leftovers = path === undefined ? [] : findLeftovers(path);
  if (call.json) {
    const ids = descendants.map(({ id }) => id);
    const beside = path === undefined ? {} : { descendants: ids, leftovers };
    out.json({ ...(info && { id: info.id }), ...location.json, method, ...beside });
    return;
  }
  const where = method === "trash" ? "In the trash" : "Deleted permanently";
  out.line(`${where}: ${toPlainLine(location.text)}`);
  for (const line of formatDescent(call, candidate)) out.line(line);
  if (leftovers.length > 0) out.line("These backups are still next to it:");
  for (const leftover of leftovers) out.line(`  ${toPlainLine(leftover)}`);
}

function describeCandidate(
  { out, io }: CommandCall,
  { session: { location, path }, info }: Candidate,
): string {
  if (info === undefined) return `${toPlainLine(location.text)}\n  no session`;
  const age = formatAgo(info.modified.getTime(), io.now());
  const facts = `${formatCounted(info.messageCount, "message")}, last used ${age}`;
  return [
    formatSessionLine(info, out.width),
    ...(path === undefined ? [] : [`  ${toPlainLine(path)}`]),
    `  ${facts}`,
  ].join("\n");
}

function formatDescent({ out }: CommandCall, { descendants }: Candidate): string[] {
  if (descendants.length === 0) return [];
  const more = descendants.length - MAX_NAMED;
  return [
    descendants.length === 1
      ? "1 session was forked from it and is kept:"
      : `${formatCounted(descendants.length, "session")} were forked from it and are kept:`,
    ...descendants.slice(0, MAX_NAMED).map((one) => `  ${formatSessionLine(one, out.width - 2)}`),
    ...(more > 0 ? [`  and ${formatCounted(more, "other")}`] : []),
  ];
}

function formatSessionLine(session: Pick<SessionRow, "id" | "title">, width: number): string {
  return truncateLine(`${truncateLine(toPlainLine(session.id), ID_WIDTH)}  ${session.title}`, width);
}
