import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { absolutePath } from "../../../session/log/session-paths.ts";
import { type Dollars, dollarsWhenCopied, inheritedDollarsIn } from "../../import/claude-code/cost-state.ts";
import { importClaudeCode } from "../../import/claude-code/import-claude-code.ts";
import { blocksOfType } from "../../import/claude-code/message-parts.ts";
import { isNode } from "../../import/claude-code/record-graph.ts";
import { isDroppedNote } from "../../import/claude-code/thread-entries.ts";
import type { ImportedSession } from "../../import/imported-session.ts";
import { entryIdOf } from "../../import/session-builder.ts";
import {
  fieldOf,
  firstFolder,
  firstText,
  isFolderName,
  member,
  readSourceText,
  type SourceRecord,
  textIn,
  textOf,
} from "../../import/source-text.ts";
import { readSourcePieces, SideFiles, textOfFile } from "../source-file.ts";
import {
  type Environment,
  type FileFacts,
  type KnownFile,
  mainFileOf,
  type ReadOptions,
  type SourceProgram,
  type SourceSession,
} from "../source-program.ts";

/** Transcripts of Claude Code, with those of subagents in files of their own. */
export const CLAUDE_CODE: SourceProgram = {
  name: "claude-code",
  folders: (env, home) => claudeHomes(env, home).map((folder) => join(folder, "projects")),
  factsIn: (text, path) => factsOf(readSourceText(text).records, path),
  wanted: ["cwd", "startedAt", "firstUuid"],
  homeOf: projectFolderOf,
  keyOf: ({ path }) => projectFolderOf(path),
  beside: ({ env, beside }) => {
    let projects: readonly string[] | undefined;
    return ({ path, facts }) => {
      if ((facts.cwd ?? "") !== "") return {};
      projects ??= projectsIn(env, beside);
      return { cwd: cwdOfFolder(projectFolderOf(path), projects) };
    };
  },
  withOrigins,
  needsKnown: ({ files }) => files.some(({ facts }) => facts.isCopy === true),
  read,
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
    missingUuids(
      path,
      files.map((file) => file.path),
    ),
};

/** Types of records that become entries by themselves and by the records that they name. */
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(["user", "assistant", "attachment", "system", "progress"]);

/** Tools that start other agents. */
const STARTERS: ReadonlySet<unknown> = new Set(["Task", "Agent"]);

/** Tells whether new records follow the latest ones, and need nothing that only earlier ones tell: names, totals, calls, agents. */
function isAlone(
  fresh: readonly SourceRecord[],
  old: readonly SourceRecord[],
  sharedIds: ReadonlySet<string>,
): boolean {
  const start = old.findIndex(({ value }) => sharedIds.has(entryIdOf(textOf(value["uuid"]) ?? "")));
  const latest = [...(start === -1 ? [] : old.slice(start)), ...fresh];
  const uuids = new Set(latest.map(({ value }) => value["uuid"]));
  const calls = new Set(
    latest.flatMap((record) =>
      blocksOf(record, "tool_use").flatMap(({ id, name }) => (STARTERS.has(name) ? [] : [id])),
    ),
  );
  const since = textOf(latest[0]?.value["timestamp"]) ?? "";
  return fresh.every((record) => {
    const { value } = record;
    if (!isNode(record)) return isDroppedNote(record);
    const { type, subtype, parentUuid, timestamp = "", sourceToolAssistantUUID: caller = parentUuid } = value;
    const { model = "", content } = member(value, "message");
    const isOwn = value["isSidechain"] !== true && member(value, "toolUseResult")["agentId"] === undefined;
    const isSummary = subtype === "compact_boundary" || value["isCompactSummary"] === true;
    if (!PLAIN_TYPES.has(type) || !isOwn || isSummary || !uuids.has(parentUuid) || !uuids.has(caller))
      return false;
    // What was copied keeps its time; messages of the program itself say "<synthetic>".
    if (String(timestamp) < since || (type === "assistant" && !/^[^<]/.test(String(model)))) return false;
    if (blocksOf(record, "tool_use").some(({ name }) => STARTERS.has(name))) return false;
    if (/^<task-notification>/.test(textIn(content))) return false;
    return blocksOf(record, "tool_result").every(({ tool_use_id }) => calls.has(tool_use_id));
  });
}

function blocksOf({ value }: SourceRecord, type: "tool_use" | "tool_result"): JsonRecord[] {
  return blocksOfType({ message: member(value, "message") }, type);
}

function claudeHomes({ CLAUDE_CONFIG_DIR: named }: Environment, home: string): string[] {
  if (!named) return [join(home, ".claude"), join(home, ".config", "claude")];
  const folders = named.split(",").map((folder) => folder.trim());
  return folders.filter((folder) => folder !== "").map(absolutePath);
}

function projectFolderOf(path: string): string {
  return /^(.*)[/\\][^/\\]+[/\\]subagents[/\\]/.exec(path)?.[1] ?? dirname(path);
}

/** Returns the working directories that the program knows, from the files in which it stores its projects. */
function projectsIn(env: Environment, beside: SideFiles): string[] {
  const home = env["HOME"] || homedir();
  const stateFiles = [...claudeHomes(env, home), home].map((folder) => join(folder, ".claude.json"));
  const folders = stateFiles.flatMap((path) => Object.keys(fieldsOf(beside.jsonOf(path)["projects"])));
  return folders.filter(isFolderName);
}

/** Finds the working directory of a project folder: a project of this name, else what the name says. */
function cwdOfFolder(folder: string, projects: readonly string[]): string {
  const name = basename(folder);
  return projects.find((cwd) => claudeFolderName(cwd) === name) ?? name.replaceAll("-", "/");
}

const LONGEST_NAME = 200;

/** Returns the name of Claude Code's folder for a working directory. */
export function claudeFolderName(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  let hash = 0;
  for (let i = 0; i < cwd.length; i++) hash = ((hash << 5) - hash + cwd.charCodeAt(i)) | 0;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hash).toString(36)}`;
}

function factsOf(records: readonly SourceRecord[], path: string): FileFacts[] {
  const name = basename(path, ".jsonl");
  const agentId = /^agent-(.+)$/.exec(name)?.[1];
  const folder = /[/\\]([^/\\]+)[/\\]subagents[/\\]/.exec(path)?.[1];
  const ofRecord = firstText(records, "sessionId");
  const sessionId = agentId === undefined ? name : (folder ?? ofRecord);
  if (sessionId === undefined) return [];
  const first = records.findIndex(
    ({ value: { uuid, type } }) => textOf(uuid) !== undefined && type !== "summary",
  );
  return [
    {
      source: "claude-code",
      sessionId,
      agentId,
      cwd: firstFolder(fieldOf(records, "cwd")).cwd,
      startedAt: firstText(records, "timestamp"),
      firstUuid: textOf(records[first]?.value["uuid"]),
      isCopy: first !== -1 && isCopied(records, first),
      begunAt: latestTime(records.slice(0, first + 1)),
    },
  ];
}

/** Returns the latest time in records; undefined if there is none. */
function latestTime(records: readonly SourceRecord[]): string | undefined {
  return records
    .flatMap(
      ({ value }) => textOf(value["timestamp"]) ?? textOf(member(value, "snapshot")["timestamp"]) ?? [],
    )
    .sort()
    .at(-1);
}

/** Tells whether a conversation is older than its file: notes in front of it are younger, or of another record. */
function isCopied(records: readonly SourceRecord[], first: number): boolean {
  const { uuid, timestamp, subtype } = fieldsOf(records[first]?.value);
  if (subtype === "compact_boundary") return true;
  return records.slice(0, first).some(({ value }) => {
    if (value["type"] === "file-history-snapshot") return value["messageId"] !== uuid;
    return textOf(timestamp) !== undefined && (textOf(value["timestamp"]) ?? "") > String(timestamp);
  });
}

/** Finds the files that sessions may have been copied from: older ones with the same first record. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const mains = sessions.flatMap((session) => mainFileOf(session.files) ?? []);
  const byFirst = groupBy(mains, ({ facts }) => facts.firstUuid);
  return sessions.map((session) => {
    const main = mainFileOf(session.files);
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

function read(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const { files, sourceId } = session;
  const mainFile = mainFileOf(session.files);
  const main = mainFile === undefined ? { records: [], issues: [] } : textOfFile(mainFile);
  const subagents = files.flatMap((file) => {
    const { agentId } = file.facts;
    if (agentId === undefined) return [];
    const beside = new SideFiles();
    const meta = beside.valueOf(file.path.replace(/\.jsonl$/, ".meta.json"));
    const text = textOfFile(file);
    return [{ agentId, meta, ...text, issues: [...text.issues, ...beside.issues] }];
  });
  const origin = findOrigin(main.records, session.origins);
  const inheritedDollars = inheritedBy(main.records, origin, options);
  return importClaudeCode({
    main,
    subagents,
    sessionId: sourceId,
    ...(options.ownId !== undefined && { ownId: options.ownId }),
    ...(mainFile !== undefined && { path: mainFile.path }),
    cwd: session.cwd,
    ...(origin !== undefined && { forkedFrom: origin.facts.sessionId }),
    ...(inheritedDollars !== undefined && { inheritedDollars }),
    importedAt: options.importedAt,
  });
}

/** Returns the dollars that the totals of a copy begin with; what was imported already stays as it is. */
function inheritedBy(
  records: readonly SourceRecord[],
  origin: KnownFile | undefined,
  { known }: ReadOptions,
): Dollars | undefined {
  const told = inheritedDollarsIn(known);
  const isOld = known.some(({ type }) => type === "usage");
  if (told !== undefined || isOld || origin === undefined) return told;
  return dollarsWhenCopied(textOfFile(origin).records, records);
}

const UUIDS = /"uuid":"([0-9a-f-]{36})"/g;

/** Finds the file that a session was copied from: of those with its first record, the one with most of the others. */
function findOrigin(
  records: readonly SourceRecord[],
  candidates: readonly KnownFile[],
): KnownFile | undefined {
  const uuids = records.flatMap(({ value }) => textOf(value["uuid"]) ?? []);
  const [first] = uuids;
  let best: { readonly file: KnownFile; readonly shared: number } | undefined;
  for (const file of candidates) {
    const held = uuidsIn(file.path);
    if (!held.has(first)) continue;
    const shared = uuids.filter((uuid) => held.has(uuid)).length;
    if (best === undefined || shared > best.shared) best = { file, shared };
  }
  return best?.file;
}

/** Counts the records of a file that are in none of the others. */
function missingUuids(path: string, others: readonly string[]): number {
  const held = new Set(others.flatMap((other) => [...uuidsIn(other)]));
  return [...uuidsIn(path)].filter((uuid) => !held.has(uuid)).length;
}

/** Bytes of the longest match of `UUIDS`. */
const MATCH_BYTES = 45;

/** Returns the ids of a file's records; empty if it cannot be read, which its own import reports. */
function uuidsIn(path: string): Set<string | undefined> {
  const held = new Set<string | undefined>();
  try {
    for (const piece of readSourcePieces(path, MATCH_BYTES)) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
      for (const [, uuid] of text.matchAll(UUIDS)) held.add(uuid);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    held.clear();
  }
  return held;
}
