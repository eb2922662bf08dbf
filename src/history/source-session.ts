import { basename, dirname, join } from "node:path";
import type { SourceName } from "../import/imported-session.ts";
import { readSourceText } from "../import/source-text.ts";
import { textOf } from "../import/source-values.ts";
import { sourceKeyOf } from "../schema/import-origin.ts";
import type { FileFacts } from "./file-facts.ts";
import { cwdOfGeminiFile } from "./project-folders.ts";
import { SideFiles } from "./side-files.ts";
import { type ReportSkipped, type SourceFile, stampOf } from "./source-file.ts";

/** A file with the facts from its front. */
export interface KnownFile extends SourceFile {
  readonly facts: FileFacts;
}

/** A session of another program, with its files. */
export interface SourceSession {
  readonly source: SourceName;
  /** Id of the session in its program. */
  readonly sourceId: string;
  /** Files of the session, including those of subagents. */
  readonly files: readonly KnownFile[];
  /** Files of other sessions in which this one's history begins, or that show how it began. */
  readonly others: readonly KnownFile[];
  readonly cwd: string;
  readonly startedAt: string;
  /** Files of other, smaller copies of the session, which are not imported. */
  readonly copies: readonly KnownFile[];
  /** Copy of Claude Code: files of sessions that it may have been copied from. */
  readonly origins: readonly KnownFile[];
  /** Name, from the program's separate list. */
  readonly title: string | undefined;
  /** Latest modification of its files, Unix milliseconds. */
  readonly modifiedMs: number;
  /** State of its files, which changes whenever one is written to. */
  readonly stamp: string;
}

/** Groups files into sessions, earliest first. */
export function groupSessions(files: readonly KnownFile[], report: ReportSkipped): SourceSession[] {
  const groups = new Map<string, KnownFile[]>();
  for (const file of withoutCopies(files)) {
    const key = groupKey(file);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const beside = new SideFiles(report);
  const titles = new Titles(beside);
  const sessions = Array.from(groups.values(), (group) => makeSession(group, files, beside, titles));
  return withForks(onePerId(sessions)).sort(byStart);
}

/** Sorts sessions in an order that depends only on them. */
function byStart(one: SourceSession, other: SourceSession): number {
  const keyOf = (session: SourceSession) => `${session.startedAt} ${sourceKeyOf(session)}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

function groupKey({ path, facts: { source, sessionId } }: KnownFile): string {
  const isAlone = source === "messages" || source === "pi-v4";
  const copyOf = source === "claude-code" ? projectFolderOf(path) : isAlone ? path : "";
  return `${source} ${copyOf} ${sessionId}`;
}

/** Returns the project folder of a transcript of Claude Code. */
function projectFolderOf(path: string): string {
  return /^(.*)[/\\][^/\\]+[/\\]subagents[/\\]/.exec(path)?.[1] ?? dirname(path);
}

/** Omits copies of files that are archived or compressed; of several that are equally packed, the longest stays. */
function withoutCopies(files: readonly KnownFile[]): KnownFile[] {
  const best = new Map<string, KnownFile>();
  for (const file of files) {
    const { path, facts } = file;
    const name = facts.source === "codex" ? basename(path).replace(/\.zst$/, "") : path;
    const rival = best.get(name);
    if (rival === undefined || isBetter(file, rival)) best.set(name, file);
  }
  return [...best.values()];
}

function isBetter(one: KnownFile, other: KnownFile): boolean {
  const isPacked = ({ path }: KnownFile) => path.endsWith(".zst");
  if (isPacked(one) !== isPacked(other)) return isPacked(other);
  if (one.size !== other.size) return one.size > other.size;
  return !one.path.includes("archived_sessions") && other.path.includes("archived_sessions");
}

function makeSession(
  group: KnownFile[],
  all: readonly KnownFile[],
  beside: SideFiles,
  titles: Titles,
): SourceSession {
  const files = [...group].sort(byBeginning);
  const main = files.find(({ facts }) => facts.agentId === undefined) ?? files[0];
  if (main === undefined) throw new Error("A session has a file.");
  const { source, sessionId, cwd } = main.facts;
  const { startedAt = source === "messages" ? new Date(main.mtimeMs).toISOString() : "" } = main.facts;
  const others = source === "codex" ? basesOf(files, all) : [];
  const title = source === "codex" ? titles.of(main.path, sessionId) : undefined;
  return {
    source,
    sourceId: sessionId,
    files,
    others,
    cwd: source === "gemini" ? cwdOfGeminiFile(main.path, cwdsOf(all), beside) : (cwd ?? ""),
    startedAt,
    origins: [],
    copies: [],
    title,
    modifiedMs: Math.max(...files.map(({ mtimeMs }) => mtimeMs)),
    stamp: [...files.map(stampOf), title ?? ""].join("\n"),
  };
}

function cwdsOf(files: readonly KnownFile[]): Set<string> {
  return new Set(files.map(({ facts }) => facts.cwd ?? ""));
}

function byBeginning(one: KnownFile, other: KnownFile): number {
  const keyOf = ({ path, facts }: KnownFile) => `${facts.startedAt ?? ""} ${path}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

/** Finds the files of all threads that a thread continues, directly or indirectly. */
function basesOf(files: readonly KnownFile[], all: readonly KnownFile[]): KnownFile[] {
  const found = new Set<KnownFile>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const { baseId, parentId } = file.facts;
    if (baseId === undefined && parentId === undefined) continue;
    for (const other of all) {
      if (other.facts.source !== "codex" || files.includes(other) || found.has(other)) continue;
      const isNamed = [baseId, parentId].some(
        (id) => id !== undefined && (other.facts.sessionId === id || other.path.includes(id)),
      );
      if (!isNamed) continue;
      found.add(other);
      waiting.push(other);
    }
  }
  return [...found];
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
  return { ...session, copies, stamp: [session.stamp, ...copies.map(stampOf)].join("\n") };
}

/** Finds the files that sessions of Claude Code may have been copied from: older ones with the same first record. */
function withForks(sessions: readonly SourceSession[]): SourceSession[] {
  const mains = sessions.flatMap((session) => mainFileOf(session) ?? []);
  const byFirst = new Map<string | undefined, KnownFile[]>();
  for (const file of mains) {
    const { firstUuid } = file.facts;
    byFirst.set(firstUuid, [...(byFirst.get(firstUuid) ?? []), file]);
  }
  return sessions.map((session) => {
    const main = mainFileOf(session);
    if (main?.facts.isCopy !== true) return session;
    const { firstUuid, begunAt = "" } = main.facts;
    const isBefore = ({ path, facts }: KnownFile) =>
      path !== main.path && (facts.isCopy !== true || (facts.begunAt ?? "") < begunAt);
    const alike = (byFirst.get(firstUuid) ?? []).filter(isBefore);
    // A copy made after a compaction begins in the middle of the original.
    const isOriginal = alike.some(({ facts }) => facts.isCopy !== true);
    const beside = isOriginal
      ? alike
      : mains.filter((file) => isBefore(file) && dirname(file.path) === dirname(main.path));
    return { ...session, origins: beside };
  });
}

function mainFileOf({ source, files }: SourceSession): KnownFile | undefined {
  return source === "claude-code" ? files.find(({ facts }) => facts.agentId === undefined) : undefined;
}

/** Names of threads of Codex, from the lists beside the session folders. */
class Titles {
  readonly #lists = new Map<string, ReadonlyMap<string, string>>();
  readonly #beside: SideFiles;

  constructor(beside: SideFiles) {
    this.#beside = beside;
  }

  of(path: string, threadId: string): string | undefined {
    const home = /^(.*)[/\\](?:archived_)?sessions[/\\]/.exec(path)?.[1];
    if (home === undefined) return undefined;
    const list = this.#lists.get(home) ?? titlesIn(this.#beside.textOf(join(home, "session_index.jsonl")));
    this.#lists.set(home, list);
    return list.get(threadId);
  }
}

function titlesIn(text: string): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { value } of readSourceText(text).records) {
    const id = textOf(value["id"]);
    if (id !== undefined) titles.set(id, textOf(value["thread_name"]) ?? "");
  }
  return titles;
}
