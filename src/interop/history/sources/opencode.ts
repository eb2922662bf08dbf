import { readdirSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson, parseRecord } from "../../../core/jsonl/decode.ts";
import { unlessRefused } from "../../../session/files/skipped-files.ts";
import { ifPresent } from "../../../session/fs/file-system.ts";
import { importOpenCode } from "../../import/opencode/import-opencode.ts";
import { createdMs, sharedMessages } from "../../import/opencode/stored-messages.ts";
import { member } from "../../import/source-text.ts";
import { type ReportSkipped, readSourceAsText, reportInto } from "../source-file.ts";
import type { KnownFile, SourceProgram, SourceSession } from "../source-program.ts";
import {
  factsInTables,
  factsOf,
  OPENCODE_LOOKUPS,
  readRows,
  type StoredSession,
} from "./opencode-database.ts";

/**
 * Sessions of OpenCode 1, and of Kilo, which is made from it: in their databases, in the files of before version 1.2, and in
 * documents that they export.
 */
export const OPENCODE: SourceProgram = {
  name: "opencode",
  folders: (env, home) => {
    const data = env["XDG_DATA_HOME"] || join(home, ".local", "share");
    return [
      ...foldersOf(join(data, "opencode"), env["OPENCODE_DB"]),
      ...foldersOf(join(data, "kilo"), env["KILO_DB"]),
    ];
  },
  isOwn: (path) => {
    if (DATABASE.test(basename(path))) return true;
    return PART_FILE.test(path) ? false : undefined;
  },
  filesBeside: (path) => (/\.jsonl?(?:\.zst)?$/.test(path) ? [] : [`${path}-wal`]),
  factsIn: (text, path) => {
    const value = fieldsOf(parseJson(text)?.value);
    const { info = value, messages = firstMessage(path) } = value;
    const [first] = listOf(messages);
    return factsOf(fieldsOf(info), createdMs({ info: member(fieldsOf(first), "info") }));
  },
  factsInDatabase: factsInTables,
  lookups: OPENCODE_LOOKUPS,
  withoutCopies,
  keyOf: ({ path }) => path,
  withOrigins,
  read: ({ files, origins }, { importedAt }) =>
    files.flatMap((file) => {
      const stored = readStored(file);
      const forkedFrom = originOf(stored.document, origins);
      const { path } = file;
      return importOpenCode({ ...stored, ...(forkedFrom && { forkedFrom }), path, importedAt }) ?? [];
    }),
};

const DATABASE = /^(?:opencode|kilo)(?:-[\w.-]+)?\.db$/;

/** Files of messages and of their parts. */
const PART_FILE = /[/\\]storage[/\\]\w+[/\\](?:ses|msg)_\w+[/\\](?:msg|prt)_\w+\.json$/;

function foldersOf(data: string, named: string | undefined): string[] {
  return [...databasesOf(data, named), join(data, "storage", "session")];
}

/** Returns the databases of all channels on which a program was installed, and the one that the environment names. */
function databasesOf(data: string, named: string | undefined): string[] {
  const own = !named || named === ":memory:" ? [] : [isAbsolute(named) ? named : join(data, named)];
  const found = unlessRefused(() => readdirSync(data).filter((name) => DATABASE.test(name)));
  // If the folder is there and cannot be read, that is met again, and reported, when the database is looked at.
  const names = found?.sort() ?? [`${basename(data)}.db`];
  return [...own, ...names.map((name) => join(data, name))];
}

/** Omits the files from which a session was brought into a database, where it has gone on since. */
function withoutCopies(files: readonly KnownFile[]): readonly KnownFile[] {
  const stored = files.filter(({ facts }) => facts.isInDatabase === true);
  const ids = new Set(stored.map(({ facts: { sessionId } }) => sessionId));
  return files.filter(({ facts }) => facts.isInDatabase === true || !ids.has(facts.sessionId));
}

/** How many sessions with the same first message are compared with a fork. */
const MAX_ORIGINS = 5;

/** Finds the sessions that forks may have been copied from: older ones of the project, with the same first message. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const keyOf = ({ files: [file] }: SourceSession) => `${file?.facts.baseId} ${file?.facts.begunAt}`;
  const byFirst = groupBy(sessions, keyOf);
  for (const alike of byFirst.values()) alike.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  return sessions.map((session) => {
    if (session.files[0]?.facts.isCopy !== true) return session;
    const older = (byFirst.get(keyOf(session)) ?? []).filter((one) => one.startedAt < session.startedAt);
    const candidates =
      older.length > MAX_ORIGINS ? [...older.slice(0, 1), ...older.slice(1 - MAX_ORIGINS)] : older;
    return { ...session, origins: candidates.flatMap(({ files }) => files) };
  });
}

/** Returns the session that a fork was copied from: of those that share most of its messages, the oldest. */
function originOf(document: unknown, origins: readonly KnownFile[]): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const file of origins) {
    const shared = sharedMessages(document, readStored(file).document);
    if (shared > most) best = file.facts.sessionId;
    most = Math.max(most, shared);
  }
  return best;
}

function readStored({ path, copy, facts }: KnownFile): StoredSession {
  if (copy !== undefined) return readRows(copy, path, facts.sessionId);
  const document = parseJson(readSourceAsText(path))?.value;
  return isSessionFile(document) ? readTree(path, document) : { document };
}

/** Tells whether a document is the file of a session of before version 1.2, whose messages are in other files. */
function isSessionFile(document: unknown): document is JsonRecord {
  return isJsonRecord(document) && !isJsonRecord(document["info"]) && typeof document["id"] === "string";
}

/** Reads the messages of a session and their parts from their files; what cannot be read is left out, with an issue. */
function readTree(path: string, info: JsonRecord): StoredSession {
  const issues: SessionIssue[] = [];
  const report = reportInto(issues);
  const messages = filesIn(messageFolder(path), report).flatMap((file) => {
    const message = recordIn(file, report);
    if (message === undefined) return [];
    const parts = filesIn(join(storageOf(path), "part", basename(file, ".json")), report);
    return [{ info: message, parts: parts.flatMap((part) => recordIn(part, report) ?? []) }];
  });
  return { document: { info, messages }, issues };
}

/** Reads the first message of a session, without its parts; empty if there is none, or it cannot be read. */
function firstMessage(path: string): JsonRecord[] {
  const [file] = filesIn(messageFolder(path), () => undefined);
  const info = file === undefined ? undefined : recordIn(file, () => undefined);
  return info === undefined ? [] : [{ info }];
}

/** Returns the folder of all sessions, messages and parts, in which a session's file is two folders deep. */
function storageOf(path: string): string {
  return dirname(dirname(dirname(path)));
}

function messageFolder(path: string): string {
  return join(storageOf(path), "message", basename(path, ".json"));
}

/** Returns the files of a folder in the order in which they were made. */
function filesIn(folder: string, report: ReportSkipped): string[] {
  try {
    const names = ifPresent(() => readdirSync(folder)) ?? [];
    return names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    report(folder, error);
    return [];
  }
}

function recordIn(path: string, report: ReportSkipped): JsonRecord | undefined {
  try {
    const record = parseRecord(readSourceAsText(path));
    if (record === undefined) report(path, new Error("it is no JSON object"));
    return record;
  } catch (error) {
    report(path, error);
    return undefined;
  }
}
