import { readdirSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson, parseRecord } from "../../../core/jsonl/decode.ts";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { callIfPresent } from "../../../session/fs/file-system.ts";
import { importOpenCode, type OpenCodeInput } from "../../import/opencode/import-opencode.ts";
import { countSharedMessages, getCreatedMs } from "../../import/opencode/stored-messages.ts";
import { getMember } from "../../import/source-text.ts";
import { type ReportSkipped, readSourceAsText, reportInto } from "../source-file.ts";
import type { KnownFile, SourceProgram, SourceSession } from "../source-program.ts";
import {
  makeFacts,
  OPENCODE_LOOKUPS,
  readRows,
  readTableFacts,
  type StoredSession,
} from "./opencode-database.ts";

/**
 * Sessions of OpenCode 1, and of Kilo, which is derived from it. They are in databases, in the files of versions before 1.2, and
 * in exported documents.
 */
export const OPENCODE: SourceProgram = {
  name: "opencode",
  folders: (env, home) => {
    const data = env["XDG_DATA_HOME"] || join(home, ".local", "share");
    return [
      ...findFolders(join(data, "opencode"), env["OPENCODE_DB"]),
      ...findFolders(join(data, "kilo"), env["KILO_DB"]),
    ];
  },
  isOwn: (path) => {
    if (DATABASE.test(basename(path))) return true;
    return PART_FILE.test(path) ? false : undefined;
  },
  filesBeside: (path) => (/\.jsonl?(?:\.zst)?$/.test(path) ? [] : [`${path}-wal`]),
  readFacts: (text, path) => {
    const value = toRecord(parseJson(text)?.value);
    const { info = value, messages = readFirstMessage(path) } = value;
    const times = toArray(messages).map((one) => getCreatedMs({ info: getMember(toRecord(one), "info") }));
    const lastMs = times.reduce((last, one) => Math.max(last, one), Number.NEGATIVE_INFINITY);
    return makeFacts(toRecord(info), times[0] ?? 0, lastMs);
  },
  factsInDatabase: readTableFacts,
  lookups: OPENCODE_LOOKUPS,
  withoutCopies,
  makeKey: ({ path }) => path,
  withOrigins,
  read: ({ files, origins }, { importedAt }) =>
    files.flatMap((file) => {
      const stored = readStored(file);
      const { path } = file;
      const origin = findOrigin(stored.document, origins);
      return importOpenCode({ ...stored, ...origin, path, importedAt }) ?? [];
    }),
};

const DATABASE = /^(?:opencode|kilo)(?:-[\w.-]+)?\.db$/;

/** Pattern for message files and part files. */
const PART_FILE = /[/\\]storage[/\\]\w+[/\\](?:ses|msg)_\w+[/\\](?:msg|prt)_\w+\.json$/;

function findFolders(data: string, named: string | undefined): string[] {
  return [...findDatabases(data, named), join(data, "storage", "session")];
}

/** Returns the databases of all channels through which a program was installed, and the database specified in the environment. */
function findDatabases(data: string, named: string | undefined): string[] {
  const own = !named || named === ":memory:" ? [] : [isAbsolute(named) ? named : join(data, named)];
  const found = callUnlessRefused(() => readdirSync(data).filter((name) => DATABASE.test(name)));
  // If the folder exists but cannot be read, the same error occurs when the database is read, and is reported then.
  const names = found?.sort() ?? [`${basename(data)}.db`];
  return [...own, ...names.map((name) => join(data, name))];
}

/** Omits files of sessions that were migrated to a database, because the sessions continued there. */
function withoutCopies(files: readonly KnownFile[]): readonly KnownFile[] {
  const stored = files.filter(({ facts }) => facts.isInDatabase === true);
  const ids = new Set(stored.map(({ facts: { sessionId } }) => sessionId));
  return files.filter(({ facts }) => facts.isInDatabase === true || !ids.has(facts.sessionId));
}

/** Maximum number of sessions with the same first message to compare with a fork. */
const MAX_ORIGINS = 5;

/** Finds the sessions that forks may have been copied from: older sessions in the same project with the same first message. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const makeKey = ({ files: [file] }: SourceSession) => `${file?.facts.baseId} ${file?.facts.begunAt}`;
  const byFirst = groupBy(sessions, makeKey);
  for (const alike of byFirst.values()) alike.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  return sessions.map((session) => {
    if (session.files[0]?.facts.isCopy !== true) return session;
    const older = (byFirst.get(makeKey(session)) ?? []).filter((one) => one.startedAt < session.startedAt);
    const candidates =
      older.length > MAX_ORIGINS ? [...older.slice(0, 1), ...older.slice(1 - MAX_ORIGINS)] : older;
    return { ...session, origins: candidates.flatMap(({ files }) => files) };
  });
}

/** Returns the session that a fork was copied from: the oldest of the sessions that share the most messages with it. */
function findOrigin(
  document: unknown,
  origins: readonly KnownFile[],
): Pick<OpenCodeInput, "forkedFrom" | "original"> {
  let best: Pick<OpenCodeInput, "forkedFrom" | "original"> = {};
  let max = 0;
  for (const file of origins) {
    const { document: original } = readStored(file);
    const shared = countSharedMessages(document, original);
    if (shared > max) best = { forkedFrom: file.facts.sessionId, original };
    max = Math.max(max, shared);
  }
  return best;
}

function readStored({ path, copy, facts }: KnownFile): StoredSession {
  if (copy !== undefined) return readRows(copy, path, facts.sessionId);
  const document = parseJson(readSourceAsText(path))?.value;
  return isSessionFile(document) ? readTree(path, document) : { document };
}

/** Returns whether a document is a session file from a version before 1.2, whose messages are in other files. */
function isSessionFile(document: unknown): document is JsonRecord {
  return isJsonRecord(document) && !isJsonRecord(document["info"]) && typeof document["id"] === "string";
}

/** Reads a session's messages and their parts from their files. Unreadable files are omitted and reported as issues. */
function readTree(path: string, info: JsonRecord): StoredSession {
  const issues: SessionIssue[] = [];
  const report = reportInto(issues);
  const messages = listFiles(getMessageFolder(path), report).flatMap((file) => {
    const message = readRecord(file, report);
    if (message === undefined) return [];
    const parts = listFiles(join(getStorage(path), "part", basename(file, ".json")), report);
    return [{ info: message, parts: parts.flatMap((part) => readRecord(part, report) ?? []) }];
  });
  return { document: { info, messages }, issues };
}

/** Reads the first message of a session, without its parts. Empty if the message is missing or cannot be read. */
function readFirstMessage(path: string): JsonRecord[] {
  const [file] = listFiles(getMessageFolder(path), () => undefined);
  const info = file === undefined ? undefined : readRecord(file, () => undefined);
  return info === undefined ? [] : [{ info }];
}

/** Returns the folder for all sessions, messages, and parts, which is two levels above a session's folder. */
function getStorage(path: string): string {
  return dirname(dirname(dirname(path)));
}

function getMessageFolder(path: string): string {
  return join(getStorage(path), "message", basename(path, ".json"));
}

/** Returns the files in a folder, oldest first. */
function listFiles(folder: string, report: ReportSkipped): string[] {
  try {
    const names = callIfPresent(() => readdirSync(folder)) ?? [];
    return names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    report(folder, error);
    return [];
  }
}

function readRecord(path: string, report: ReportSkipped): JsonRecord | undefined {
  try {
    const record = parseRecord(readSourceAsText(path));
    if (record === undefined) report(path, new Error("it is not a JSON object"));
    return record;
  } catch (error) {
    report(path, error);
    return undefined;
  }
}
