import { sourceKeyOf } from "../schema/import-origin.ts";
import { SideFiles } from "./side-files.ts";
import { type ReportSkipped, stampOf } from "./source-file.ts";
import {
  type Environment,
  type KnownFile,
  mainFileOf,
  type SessionBeside,
  type SourceProgram,
  type SourceScene,
  type SourceSession,
} from "./source-program.ts";
import { SOURCE_PROGRAMS } from "./source-table.ts";

/** Groups files into sessions, earliest first. */
export function groupSessions(
  files: readonly KnownFile[],
  report: ReportSkipped,
  env: Environment = process.env,
): SourceSession[] {
  const folders = new Set(files.map(({ facts }) => facts.cwd ?? ""));
  const common = { folders, beside: new SideFiles(report), env };
  const sessions = SOURCE_PROGRAMS.flatMap((program) => {
    const own = files.filter(({ facts }) => facts.source === program.name);
    return own.length === 0 ? [] : sessionsOf(program, { ...common, files: own });
  });
  return sessions.sort(byStart);
}

function sessionsOf(program: SourceProgram, scene: SourceScene): readonly SourceSession[] {
  const groups = new Map<string, KnownFile[]>();
  for (const file of program.withoutCopies?.(scene.files) ?? scene.files) {
    const key = `${program.keyOf?.(file) ?? ""} ${file.facts.sessionId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [file]);
    else group.push(file);
  }
  const besideOf = program.beside?.(scene);
  const sessions = onePerId(Array.from(groups.values(), (group) => makeSession(group, besideOf)));
  return program.withOrigins?.(sessions) ?? sessions;
}

/** Sorts sessions in an order that depends only on them. */
function byStart(one: SourceSession, other: SourceSession): number {
  const keyOf = (session: SourceSession) => `${session.startedAt} ${sourceKeyOf(session)}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

function makeSession(
  group: KnownFile[],
  besideOf: (main: KnownFile, files: readonly KnownFile[]) => SessionBeside = () => ({}),
): SourceSession {
  const files = group.sort(byBeginning);
  const main = mainFileOf(files) ?? files[0];
  if (main === undefined) throw new Error("A session has a file.");
  const { source, sessionId, cwd = "", startedAt = "" } = main.facts;
  const more = besideOf(main, files);
  return {
    source,
    sourceId: sessionId,
    files,
    others: [],
    cwd,
    startedAt,
    origins: [],
    copies: [],
    title: undefined,
    modifiedMs: Math.max(
      ...files.map(
        ({ facts, mtimeMs, beside = [] }) =>
          facts.modifiedMs ?? Math.max(mtimeMs, ...beside.map((one) => one.mtimeMs)),
      ),
    ),
    stamp: [...files.map(sessionStamp), more.title ?? ""].join("\n"),
    ...more,
  };
}

/** Returns a text that changes whenever a session in a file does. */
function sessionStamp(file: KnownFile): string {
  return file.facts.stamp ?? stampOf(file);
}

function byBeginning(one: KnownFile, other: KnownFile): number {
  const keyOf = ({ path, facts }: KnownFile) => `${facts.startedAt ?? ""} ${path}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

/** Keeps the largest of several sessions with the same id, and knows the others as its copies. */
function onePerId(sessions: readonly SourceSession[]): SourceSession[] {
  const best = new Map<string, SourceSession>();
  const sizeOf = ({ files }: SourceSession) => files.reduce((sum, { size }) => sum + size, 0);
  for (const session of sessions) {
    const key = sourceKeyOf(session);
    const rival = best.get(key);
    if (rival === undefined) best.set(key, session);
    else if (sizeOf(session) > sizeOf(rival)) best.set(key, withCopy(session, rival));
    else best.set(key, withCopy(rival, session));
  }
  return [...best.values()];
}

function withCopy(session: SourceSession, copy: SourceSession): SourceSession {
  const copies = [...session.copies, ...copy.files, ...copy.copies];
  return { ...session, copies, stamp: [session.stamp, ...copies.map(sessionStamp)].join("\n") };
}
