import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { callQuietly } from "../../../core/format/errors.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { type JsonRecord, pickDefined, toSafeString } from "../../../core/format/json.ts";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import {
  type Dollars,
  findCopiedDollars,
  findInheritedDollars,
} from "../../import/claude-code/cost-state.ts";
import { importClaudeCode } from "../../import/claude-code/import-claude-code.ts";
import { findBlocksOfType } from "../../import/claude-code/message-parts.ts";
import { isNode } from "../../import/claude-code/record-graph.ts";
import { isDroppedNote } from "../../import/claude-code/thread-entries.ts";
import type { ImportedSession } from "../../import/imported-session.ts";
import { makeEntryId } from "../../import/session-builder.ts";
import {
  findFirstFolder,
  findFirstText,
  getMember,
  isFolderName,
  joinContentText,
  pluckField,
  readSourceText,
  type SourceRecord,
  toNonemptyText,
} from "../../import/source-text.ts";
import { parseSourceFile, readSourcePieces, SideFiles } from "../source-file.ts";
import {
  type Environment,
  type FileFacts,
  findMainFile,
  type KnownFile,
  type ReadOptions,
  type SourceProgram,
  type SourceSession,
} from "../source-program.ts";

/** Transcripts of Claude Code. Subagent transcripts are in separate files. */
export const CLAUDE_CODE: SourceProgram = {
  name: "claude-code",
  folders: (env, home) => listClaudeHomes(env, home).map((folder) => join(folder, "projects")),
  readFacts: (text, path) => readFacts(readSourceText(text).records, path),
  wanted: ["cwd", "startedAt", "firstUuid"],
  getHome: getProjectFolder,
  makeKey: ({ path }) => getProjectFolder(path),
  beside: ({ env, beside }) => {
    let projects: readonly string[] | undefined;
    return ({ path, facts }) => {
      if ((facts.cwd ?? "") !== "") return {};
      projects ??= listProjects(env, beside);
      return { cwd: findFolderCwd(getProjectFolder(path), projects) };
    };
  },
  withOrigins,
  needsKnown: ({ files }) => files.some(({ facts }) => facts.isCopy === true),
  read: readClaudeCode,
  tail: {
    read: (main, { sourceId, files }, { importedAt }) =>
      importClaudeCode({
        main,
        sessionId: sourceId,
        ...(files[0] !== undefined && { path: files[0].path }),
        importedAt,
      }).find((one) => one.sourceId === sourceId),
    isAlone,
  },
  countMissing: ({ path }, { files }) =>
    countMissingUuids(
      path,
      files.map((file) => file.path),
    ),
};

/** Types of records whose entries depend only on the record itself and on the records that it refers to. */
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(["user", "assistant", "attachment", "system", "progress"]);

/** Names of the tools that start other agents. */
const STARTERS: ReadonlySet<unknown> = new Set(["Task", "Agent"]);

/**
 * Returns whether new records follow the latest records and do not depend on earlier records for names, totals, calls, or agents.
 */
function isAlone(
  fresh: readonly SourceRecord[],
  old: readonly SourceRecord[],
  sharedIds: ReadonlySet<string>,
): boolean {
  const start = old.findIndex(({ value }) => sharedIds.has(makeEntryId(toNonemptyText(value["uuid"]) ?? "")));
  const latest = [...(start === -1 ? [] : old.slice(start)), ...fresh];
  const uuids = new Set(latest.map(({ value }) => value["uuid"]));
  const calls = new Set(
    latest.flatMap((record) =>
      findBlocks(record, "tool_use").flatMap(({ id, name }) => (STARTERS.has(name) ? [] : [id])),
    ),
  );
  const since = toNonemptyText(latest[0]?.value["timestamp"]) ?? "";
  return fresh.every((record) => {
    const { value } = record;
    if (!isNode(record)) return isDroppedNote(record);
    const { type, subtype, parentUuid, timestamp = "", sourceToolAssistantUUID: caller = parentUuid } = value;
    const { model = "", content } = getMember(value, "message");
    const isOwn = value["isSidechain"] !== true && getMember(value, "toolUseResult")["agentId"] === undefined;
    const isSummary = subtype === "compact_boundary" || value["isCompactSummary"] === true;
    if (!PLAIN_TYPES.has(type) || !isOwn || isSummary || !uuids.has(parentUuid) || !uuids.has(caller))
      return false;
    // Copied records keep their time, and messages by Claude Code itself have the model "<synthetic>".
    if (toSafeString(timestamp) < since || (type === "assistant" && !/^[^<]/.test(toSafeString(model))))
      return false;
    if (findBlocks(record, "tool_use").some(({ name }) => STARTERS.has(name))) return false;
    if (/^<task-notification>/.test(joinContentText(content))) return false;
    return findBlocks(record, "tool_result").every(({ tool_use_id }) => calls.has(tool_use_id));
  });
}

function findBlocks({ value }: SourceRecord, type: "tool_use" | "tool_result"): JsonRecord[] {
  return findBlocksOfType({ message: getMember(value, "message") }, type);
}

function listClaudeHomes({ CLAUDE_CONFIG_DIR: named }: Environment, home: string): string[] {
  if (!named) return [join(home, ".claude"), join(home, ".config", "claude")];
  const folders = named.split(",").map((folder) => folder.trim());
  return folders.filter((folder) => folder !== "").map(toAbsolutePath);
}

function getProjectFolder(path: string): string {
  return /^(.*)[/\\][^/\\]+[/\\]subagents[/\\]/.exec(path)?.[1] ?? dirname(path);
}

/** Returns the working directories in the files where Claude Code stores its projects. */
function listProjects(env: Environment, beside: SideFiles): string[] {
  const home = env["HOME"] || homedir();
  const stateFiles = [...listClaudeHomes(env, home), home].map((folder) => join(folder, ".claude.json"));
  const folders = stateFiles.flatMap((path) => Object.keys(toRecord(beside.getJson(path)["projects"])));
  return folders.filter(isFolderName);
}

/** Finds the working directory of a project folder: a project with a matching name, or the path that the name encodes. */
function findFolderCwd(folder: string, projects: readonly string[]): string {
  const name = basename(folder);
  return projects.find((cwd) => makeClaudeFolderName(cwd) === name) ?? name.replaceAll("-", "/");
}

const LONGEST_NAME = 200;

/** Returns the name of Claude Code's folder for a working directory. */
export function makeClaudeFolderName(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  let hash = 0;
  for (let i = 0; i < cwd.length; i++) hash = ((hash << 5) - hash + cwd.charCodeAt(i)) | 0;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hash).toString(36)}`;
}

function readFacts(records: readonly SourceRecord[], path: string): FileFacts[] {
  const name = basename(path, ".jsonl");
  const agentId = /^agent-(.+)$/.exec(name)?.[1];
  const folder = /[/\\]([^/\\]+)[/\\]subagents[/\\]/.exec(path)?.[1];
  const ofRecord = findFirstText(records, "sessionId");
  const sessionId = agentId === undefined ? name : (folder ?? ofRecord);
  if (sessionId === undefined) return [];
  const first = records.findIndex(
    ({ value: { uuid, type } }) => toNonemptyText(uuid) !== undefined && type !== "summary",
  );
  return [
    {
      source: "claude-code",
      sessionId,
      agentId,
      cwd: findFirstFolder(pluckField(records, "cwd")).cwd,
      startedAt: findFirstText(records, "timestamp"),
      firstUuid: toNonemptyText(records[first]?.value["uuid"]),
      isCopy: first !== -1 && isCopied(records, first),
      begunAt: findLatestTime(records.slice(0, first + 1)),
    },
  ];
}

/** Returns the latest time in records; undefined if no record has a time. */
function findLatestTime(records: readonly SourceRecord[]): string | undefined {
  return records
    .flatMap(
      ({ value }) =>
        toNonemptyText(value["timestamp"]) ?? toNonemptyText(getMember(value, "snapshot")["timestamp"]) ?? [],
    )
    .sort()
    .at(-1);
}

/**
 * Returns whether a conversation is older than its file. In that case, the notes before the conversation are newer or belong to
 * another record.
 */
function isCopied(records: readonly SourceRecord[], first: number): boolean {
  const { uuid, timestamp, subtype } = toRecord(records[first]?.value);
  if (subtype === "compact_boundary") return true;
  return records.slice(0, first).some(({ value }) => {
    if (value["type"] === "file-history-snapshot") return value["messageId"] !== uuid;
    return (
      toNonemptyText(timestamp) !== undefined &&
      (toNonemptyText(value["timestamp"]) ?? "") > toSafeString(timestamp)
    );
  });
}

/** Finds the files that sessions may have been copied from: older files with the same first record. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const mains = sessions.flatMap((session) => findMainFile(session.files) ?? []);
  const byFirst = groupBy(mains, ({ facts }) => facts.firstUuid);
  return sessions.map((session) => {
    const main = findMainFile(session.files);
    if (main?.facts.isCopy !== true) return session;
    const { firstUuid, begunAt = "" } = main.facts;
    const isBefore = ({ path, facts }: KnownFile) =>
      path !== main.path && (facts.isCopy !== true || (facts.begunAt ?? "") < begunAt);
    const alike = (byFirst.get(firstUuid) ?? []).filter(isBefore);
    // A copy that was made after a compaction begins in the middle of the original.
    const isOriginal = alike.some(({ facts }) => facts.isCopy !== true);
    const beside = isOriginal
      ? alike
      : mains.filter((file) => isBefore(file) && dirname(file.path) === dirname(main.path));
    return { ...session, origins: beside };
  });
}

function readClaudeCode(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const { files, sourceId } = session;
  const { ownId, importedAt } = options;
  const mainFile = findMainFile(session.files);
  const main = mainFile === undefined ? { records: [], issues: [] } : parseSourceFile(mainFile);
  const subagents = files.flatMap((file) => {
    const { agentId } = file.facts;
    if (agentId === undefined) return [];
    const beside = new SideFiles();
    const meta = beside.getValue(file.path.replace(/\.jsonl$/, ".meta.json"));
    const text = parseSourceFile(file);
    return [{ agentId, meta, ...text, issues: [...text.issues, ...beside.issues] }];
  });
  const origin = findOrigin(main.records, session.origins);
  const original = origin && parseSourceFile(origin);
  const inheritedDollars = findInherited(main.records, original?.records, options);
  return importClaudeCode({
    main,
    subagents,
    sessionId: sourceId,
    cwd: session.cwd,
    ...pickDefined({ ownId, path: mainFile?.path, forkedFrom: origin?.facts.sessionId }),
    ...pickDefined({ original, inheritedDollars }),
    importedAt,
  });
}

/**
 * Returns the dollar amount initially included in a copy's totals; undefined if the copy was imported without it, because an
 * imported copy must not change.
 */
function findInherited(
  records: readonly SourceRecord[],
  original: readonly SourceRecord[] | undefined,
  { known }: ReadOptions,
): Dollars | undefined {
  const told = findInheritedDollars(known);
  const isOld = known.some(({ type }) => type === "usage");
  if (told !== undefined || isOld || original === undefined) return told;
  return findCopiedDollars(original, records);
}

const UUIDS = /"uuid":"([0-9a-f-]{36})"/g;

/**
 * Finds the file from which a session was copied. Of all files that contain the session's first record, that file has the most
 * records in common with the session.
 */
function findOrigin(
  records: readonly SourceRecord[],
  candidates: readonly KnownFile[],
): KnownFile | undefined {
  const uuids = records.flatMap(({ value }) => toNonemptyText(value["uuid"]) ?? []);
  const [first] = uuids;
  let best: { readonly file: KnownFile; readonly shared: number } | undefined;
  for (const file of candidates) {
    const held = readUuids(file.path);
    if (!held.has(first)) continue;
    const shared = uuids.filter((uuid) => held.has(uuid)).length;
    if (best === undefined || shared > best.shared) best = { file, shared };
  }
  return best?.file;
}

/** Counts the records in a file that are not in any of the other files. */
function countMissingUuids(path: string, others: readonly string[]): number {
  const held = new Set(others.flatMap((other) => [...readUuids(other)]));
  return [...readUuids(path)].filter((uuid) => !held.has(uuid)).length;
}

/** Length of the longest match of `UUIDS`, in bytes. */
const MATCH_BYTES = 45;

/** Returns the ids of a file's records. Empty if the file cannot be read, which is reported when that file is imported. */
function readUuids(path: string): Set<string | undefined> {
  const read = () => {
    const held = new Set<string | undefined>();
    for (const piece of readSourcePieces(path, MATCH_BYTES)) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
      for (const [, uuid] of text.matchAll(UUIDS)) held.add(uuid);
    }
    return held;
  };
  return callQuietly(read) ?? new Set();
}
