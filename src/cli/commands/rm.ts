import { Descent } from "../../catalog/descent.ts";
import type { FileRow } from "../../catalog/session-row.ts";
import { isSystemError } from "../../catalog/skipping.ts";
import { summarizeSession } from "../../catalog/summarize-session.ts";
import { assertPlainFile, type DeletedSession, deleteSession } from "../../catalog/trash.ts";
import { fileError } from "../../log/file-errors.ts";
import { notASessionAt } from "../../log/foreign-file.ts";
import { isSessionError } from "../../schema/errors.ts";
import { plainLine } from "../../view/plain.ts";
import { counted } from "../../view/words.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirm, YES } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { knownSessions } from "../known-sessions.ts";
import { leftoversOf } from "../leftovers.ts";
import { argumentList, flag } from "../parameters.ts";
import { findStored, removeStored } from "../store/remove-stored.ts";
import { ago } from "../text/times.ts";
import { sessionLine } from "../view/session-line.ts";

const SESSIONS = argumentList("<sessions...>", "the sessions");
const PERMANENT = flag("--permanent", "delete them for good instead");
const FORCE = flag("--force", "also files that are not sessions, and sessions that a process has leased");

/** How many descendants are named. */
const MOST_NAMED = 5;

/** A session that is to go. */
interface Candidate {
  readonly path: string;
  /** Undefined if it is no session, or cannot be read. */
  readonly info: FileRow | undefined;
  readonly descendants: readonly FileRow[];
}

/** `sessiontree rm`: deletes sessions, in a way that can be undone. */
export const rmCommand: Command = {
  details: `On a terminal it asks first. "sessiontree restore" restores sessions from the trash. It names sessions that were forked from a deleted one; they are complete without it. Backups beside a session (.bak) are kept. Sessions in a database are deleted for good, after confirmation.`,
  parameters: [SESSIONS, PERMANENT, FORCE, YES],
  examples: [
    ["rm 1a2b3c4d", "into the trash"],
    ["rm old.jsonl older.jsonl --permanent --yes", "for good, without asking"],
  ],
  run: async (call) => {
    const { get, stored } = call;
    const others = stored === undefined ? [] : await findStored(stored, get(SESSIONS));
    if (stored !== undefined && others.length > 0) return removeStored(call, stored, others, get(YES));
    const candidates = await candidatesOf(call);
    if (!(await isMeant(call, candidates))) {
      call.warn("Nothing was deleted.");
      return EXIT_CODES.failed;
    }
    let isDone = true;
    for (const candidate of candidates) if (!(await deleteOne(call, candidate))) isDone = false;
    return isDone ? EXIT_CODES.ok : EXIT_CODES.failed;
  },
};

/** Looks at everything before anything is done, so that a wrong name costs nothing. */
async function candidatesOf(call: CommandCall): Promise<Candidate[]> {
  const found: { path: string; info: FileRow | undefined }[] = [];
  for (const name of call.get(SESSIONS)) {
    const path = await call.findKeptSession(name);
    if (found.some((other) => other.path === path)) continue;
    assertPlainFile(path);
    const info = await infoOf(path, call.get(FORCE));
    if (info === undefined && !call.get(FORCE)) throw notASessionAt(path);
    found.push({ path, info });
  }
  const known = await knownSessions(
    call,
    found.map(({ path }) => path),
  );
  const going = new Map(
    found.flatMap(({ path, info }) => (info === undefined ? [] : [[path, info] as const])),
  );
  const others = known.filter(({ path }) => !going.has(path));
  const descent = new Descent([...going.values(), ...others]);
  return found.map(({ path, info }) => {
    const descendants = info === undefined ? [] : descent.descendantsOf([info]);
    return { path, info, descendants: descendants.filter((one) => !going.has(one.path)) };
  });
}

/** Gives what a list would say; undefined for what is no session or, if it goes all the same, cannot be read. */
async function infoOf(path: string, isForced: boolean): Promise<FileRow | undefined> {
  try {
    return await summarizeSession(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (!isForced) throw fileError(path, "read", error);
    return undefined;
  }
}

/** What goes into the trash can come back, and needs nobody's consent if nobody is there to ask. */
async function isMeant(call: CommandCall, candidates: readonly Candidate[]): Promise<boolean> {
  const isPermanent = call.get(PERMANENT);
  if (call.get(YES) || (!isPermanent && call.io.ask === undefined)) return true;
  const lines = candidates.flatMap((candidate) => [
    describe(call, candidate),
    ...descentLines(call, candidate),
  ]);
  const what = candidates.length === 1 ? "it" : `these ${counted(candidates.length, "session")}`;
  const question = isPermanent ? `Delete ${what} for good?` : `Move ${what} to the trash?`;
  return confirm(call, [...lines, question].join("\n"));
}

/** Deletes a session and says so; false if it stays. */
async function deleteOne(call: CommandCall, candidate: Candidate): Promise<boolean> {
  const { path } = candidate;
  const force = call.get(FORCE);
  try {
    const deleted = await deleteSession(path, { permanent: call.get(PERMANENT), force });
    writeDeleted(call, candidate, deleted);
    return true;
  } catch (error) {
    if (!isSessionError(error)) throw error;
    call.warn(error.message);
    const isTrashBroken = error.code === "WRITE_FAILED" && !call.get(PERMANENT) && !call.get(YES);
    if (!isTrashBroken || call.io.ask === undefined) return false;
  }
  if (!(await confirm(call, "Delete it for good instead?"))) return false;
  writeDeleted(call, candidate, await deleteSession(path, { permanent: true, force }));
  return true;
}

function writeDeleted(call: CommandCall, candidate: Candidate, { path, method }: DeletedSession): void {
  const { out } = call;
  const { info, descendants } = candidate;
  const leftovers = leftoversOf(path);
  if (call.json) {
    const ids = descendants.map(({ id }) => id);
    out.json({ ...(info && { id: info.id }), path, method, descendants: ids, leftovers });
    return;
  }
  const where = method === "trash" ? "In the trash" : "Deleted for good";
  out.line(`${where}: ${plainLine(path)}`);
  for (const line of descentLines(call, candidate)) out.line(line);
  if (leftovers.length > 0) out.line("These backups are still beside it:");
  for (const leftover of leftovers) out.line(`  ${plainLine(leftover)}`);
}

function describe({ out, io }: CommandCall, { path, info }: Candidate): string {
  if (info === undefined) return `${plainLine(path)}\n  no session`;
  const age = ago(info.modified.getTime(), io.now?.() ?? Date.now());
  const facts = `${counted(info.messageCount, "message")}, last used ${age}`;
  return `${sessionLine(info, out.width)}\n  ${plainLine(path)}\n  ${facts}`;
}

function descentLines({ out }: CommandCall, { descendants }: Candidate): string[] {
  if (descendants.length === 0) return [];
  const more = descendants.length - MOST_NAMED;
  return [
    descendants.length === 1
      ? "1 session was forked from it and is kept:"
      : `${counted(descendants.length, "session")} were forked from it and are kept:`,
    ...descendants.slice(0, MOST_NAMED).map((one) => `  ${sessionLine(one, out.width - 2)}`),
    ...(more > 0 ? [`  and ${counted(more, "other")}`] : []),
  ];
}
